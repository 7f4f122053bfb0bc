#include "common/config/memory_limit.h"

#include <fstream>
#include <limits>
#include <string>

#include "common/config/cgroup.h"

namespace slipstream {
namespace {

constexpr double kKibibyte = 1024;

// A file with one number of bytes, or with a word for none ("max").
double bytes_in(const std::filesystem::path& file) {
  double bytes = 0;
  return std::ifstream(file) >> bytes && bytes > 0 ? bytes : kNoLimit;
}

double read_v2(const std::filesystem::path& group) { return bytes_in(group / "memory.max"); }
double read_v1(const std::filesystem::path& group) { return bytes_in(group / "memory.limit_in_bytes"); }

}  // namespace

MachineMemory machine_memory(const std::filesystem::path& root) {
  MachineMemory memory{.limit = cgroup_limit(root, "memory", read_v2, read_v1)};
  std::ifstream file(root / "proc/meminfo");  // "MemTotal:       16384256 kB"
  std::string name;
  for (double kibibytes = 0; file >> name >> kibibytes; file.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    if (name == "MemTotal:") memory.total = kibibytes * kKibibyte;
    if (name == "MemAvailable:") memory.available = kibibytes * kKibibyte;
  }
  return memory;
}

}  // namespace slipstream
