#include "common/config/cpu_quota.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include <sched.h>

namespace slipstream {
namespace {

constexpr double kNoQuota = std::numeric_limits<double>::infinity();

double cpus(double quota_us, double period_us) { return quota_us > 0 && period_us > 0 ? quota_us / period_us : kNoQuota; }

// cgroup v2: quota and period in microseconds, "150000 100000"; without a quota "max 100000".
double read_v2(const std::filesystem::path& group) {
  std::ifstream file(group / "cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max") return kNoQuota;
  return cpus(std::strtod(quota.c_str(), nullptr), period);
}

// cgroup v1: quota and period have files of their own; a quota of -1 means none.
double read_v1(const std::filesystem::path& group) {
  double quota = 0;
  double period = 0;
  std::ifstream(group / "cpu.cfs_quota_us") >> quota;
  std::ifstream(group / "cpu.cfs_period_us") >> period;
  return cpus(quota, period);
}

// The smallest quota of `group` and of all groups above it, up to the mount. Inside a container
// /proc/self/cgroup often shows the host's path, which does not exist here; groups that cannot be
// read count as having no quota, and the mount itself is then the container's own group.
double smallest(const std::filesystem::path& mount, const std::string& group, double (*read)(const std::filesystem::path&)) {
  double least = kNoQuota;
  for (std::filesystem::path at = std::filesystem::path(group).relative_path(); !at.empty(); at = at.parent_path()) {
    least = std::min(least, read(mount / at));
  }
  return std::min(least, read(mount));
}

bool lists_cpu(const std::string& controllers) { return ("," + controllers + ",").find(",cpu,") != std::string::npos; }

}  // namespace

double cgroup_cpus(const std::filesystem::path& root) {
  const std::filesystem::path mount = root / "sys/fs/cgroup";
  std::ifstream file(root / "proc/self/cgroup");
  double least = kNoQuota;
  std::string line;  // "number:controllers:path"; v2 has no controllers
  while (std::getline(file, line)) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    // A hybrid system has both versions, v2 below "unified". v1 mounts a controller under its own
    // name or under the names of all that share its hierarchy ("cpu,cpuacct").
    if (controllers.empty()) {
      least = std::min({least, smallest(mount, group, read_v2), smallest(mount / "unified", group, read_v2)});
    } else if (lists_cpu(controllers)) {
      least = std::min({least, smallest(mount / "cpu", group, read_v1), smallest(mount / controllers, group, read_v1)});
    }
  }
  return least;
}

int cpu_quota() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int affinity = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return std::max(1, static_cast<int>(std::min(static_cast<double>(affinity), cgroup_cpus("/"))));
}

}  // namespace slipstream
