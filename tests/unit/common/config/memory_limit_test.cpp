#include "common/config/memory_limit.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/unit/common/config/surroundings.h"

namespace slipstream {
namespace {

TEST(MachineMemory, ReadsWhatTheMachineHasAndWhatIsFree) {
  const ScopedFolder root;
  root.write("proc/meminfo",
             "MemTotal:        2000 kB\nMemFree:           1 kB\nMemAvailable:     1000 kB\nHugePages_Total:   0\n");
  const MachineMemory memory = machine_memory(root.path());
  EXPECT_DOUBLE_EQ(memory.total, 2000 * 1024);
  EXPECT_DOUBLE_EQ(memory.available, 1000 * 1024);
  EXPECT_TRUE(std::isinf(memory.limit));
}

TEST(MachineMemory, TakesTheSmallestLimitOfItsGroups) {
  const ScopedFolder root;
  root.write("proc/self/cgroup", "0::/pod/one\n");
  root.write("sys/fs/cgroup/pod/one/memory.max", "max\n");
  root.write("sys/fs/cgroup/pod/memory.max", "4096\n");
  root.write("sys/fs/cgroup/memory.max", "8192\n");
  EXPECT_DOUBLE_EQ(machine_memory(root.path()).limit, 4096);
}

TEST(MachineMemory, ReadsVersionOneOfCgroups) {
  const ScopedFolder root;
  root.write("proc/self/cgroup", "4:memory:/pod\n3:cpu,cpuacct:/pod\n");
  root.write("sys/fs/cgroup/memory/pod/memory.limit_in_bytes", "65536\n");
  EXPECT_DOUBLE_EQ(machine_memory(root.path()).limit, 65536);
}

}  // namespace
}  // namespace slipstream
