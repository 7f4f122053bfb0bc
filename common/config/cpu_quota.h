// How many CPUs this process may really use: the smaller of its affinity mask and the cgroup quota
// (v1 or v2, own group or any above it). A container of two CPUs on a host of 64 must not start 64
// threads.
#pragma once

#include <filesystem>

namespace slipstream {

// At least 1; a quota of 1.5 CPUs gives 1, since two threads would take turns being throttled.
int cpu_quota();

// The cgroup part alone, in CPUs; infinity when there is no quota. root: "/" or a test's own tree
// with proc/self/cgroup and sys/fs/cgroup below it.
double cgroup_cpus(const std::filesystem::path& root);

}  // namespace slipstream
