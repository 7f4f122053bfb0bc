#include "common/config/cpu_quota.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "common/config/cgroup.h"

namespace slipstream {
namespace {

double cpus(double quota_us, double period_us) { return quota_us > 0 && period_us > 0 ? quota_us / period_us : kNoLimit; }

// cgroup v2: quota and period in microseconds, "150000 100000"; without a quota "max 100000".
double read_v2(const std::filesystem::path& group) {
  std::ifstream file(group / "cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max") return kNoLimit;
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

}  // namespace

double cgroup_cpus(const std::filesystem::path& root) { return cgroup_limit(root, "cpu", read_v2, read_v1); }

int cpu_quota() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int affinity = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return std::max(1, static_cast<int>(std::min(static_cast<double>(affinity), cgroup_cpus("/"))));
}

}  // namespace slipstream
