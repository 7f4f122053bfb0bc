// How many CPUs this process may use: the smaller of the CPUs in its affinity mask and the quota of
// its cgroup (v1 or v2) or of any group above that. A container of two CPUs on a host of 64 must
// not start 64 threads.
#pragma once

#include <filesystem>

namespace slipstream {

// At least 1. A fraction is dropped: with two threads on a quota of 1.5 CPUs, the kernel would
// throttle both in turns.
int cpu_quota();

// The cgroup's quota alone, in CPUs; infinity if there is none.
//
// root: "/", or in a test a folder that has proc/self/cgroup and sys/fs/cgroup below it.
double cgroup_cpus(const std::filesystem::path& root);

}  // namespace slipstream
