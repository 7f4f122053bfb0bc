// How much memory this process may use: the machine's, and the limit of its cgroup (v1 or v2) or of
// any group above that. A container of 2 GB on a host of 256 is killed when it takes more.
#pragma once

#include <cstdint>
#include <filesystem>

namespace slipstream {

struct MachineMemory {
  double total = 0;      // bytes of the machine; 0: it does not say
  double available = 0;  // of these, what a new process can have without swapping
  double limit = 0;      // of the cgroups; infinity: none
};

// root: "/", or in a test a folder that has proc and sys/fs/cgroup below it.
MachineMemory machine_memory(const std::filesystem::path& root);

}  // namespace slipstream
