// The limits that cgroups set for this process. A group's limit holds for all groups below it, so
// the smallest one on the way up counts.
#pragma once

#include <filesystem>
#include <limits>
#include <string_view>

namespace slipstream {

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// Reads the limit of one group; kNoLimit if it has none, or cannot be read.
using ReadGroup = double (*)(const std::filesystem::path& group);

// The smallest limit of a controller ("cpu", "memory") over the groups of this process and all
// groups above; kNoLimit if there is none. v2, v1: read a group of that version of cgroups.
//
// root: "/", or in a test a folder that has proc/self/cgroup and sys/fs/cgroup below it.
double cgroup_limit(const std::filesystem::path& root, std::string_view controller, ReadGroup v2, ReadGroup v1);

}  // namespace slipstream
