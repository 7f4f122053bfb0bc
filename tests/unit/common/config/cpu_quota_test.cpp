#include "common/config/cpu_quota.h"

#include <cmath>
#include <thread>

#include <gtest/gtest.h>

#include "tests/unit/common/config/surroundings.h"

namespace slipstream {
namespace {

TEST(CpuQuota, IsAtLeastOneAndNoMoreThanTheMachine) {
  EXPECT_GE(cpu_quota(), 1);
  EXPECT_LE(cpu_quota(), static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
}

TEST(CpuQuota, IsUnlimitedWithoutCgroups) {
  const ScopedFolder root;
  EXPECT_TRUE(std::isinf(cgroup_cpus(root.path())));
}

TEST(CpuQuota, ReadsVersionTwo) {
  const ScopedFolder root;
  root.write("proc/self/cgroup", "0::/pod/one\n");
  root.write("sys/fs/cgroup/pod/one/cpu.max", "150000 100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cpus(root.path()), 1.5);
}

TEST(CpuQuota, TakesTheSmallestOfTheGroupsAboveItsOwn) {
  const ScopedFolder root;
  root.write("proc/self/cgroup", "0::/pod/one\n");
  root.write("sys/fs/cgroup/pod/one/cpu.max", "max 100000\n");
  root.write("sys/fs/cgroup/pod/cpu.max", "200000 100000\n");
  root.write("sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cpus(root.path()), 2.0);
}

TEST(CpuQuota, ReadsTheMountWhereThePathIsTheHosts) {
  const ScopedFolder root;
  root.write("proc/self/cgroup", "0::/docker/0123\n");
  root.write("sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cpus(root.path()), 3.0);
}

TEST(CpuQuota, ReadsVersionOne) {
  const ScopedFolder root;
  root.write("proc/self/cgroup", "3:cpuset:/\n2:cpu,cpuacct:/box\n0::/\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "50000\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cpus(root.path()), 0.5);
}

TEST(CpuQuota, TakesMinusOneForNoQuota) {
  const ScopedFolder root;
  root.write("proc/self/cgroup", "1:cpu:/\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_TRUE(std::isinf(cgroup_cpus(root.path())));
}

TEST(CpuQuota, IgnoresGarbage) {
  const ScopedFolder root;
  root.write("proc/self/cgroup", "garbage\n::\n0::/pod\n");
  root.write("sys/fs/cgroup/pod/cpu.max", "many 0\n");
  EXPECT_TRUE(std::isinf(cgroup_cpus(root.path())));
}

}  // namespace
}  // namespace slipstream
