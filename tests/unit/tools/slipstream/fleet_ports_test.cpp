#include "tools/slipstream/fleet_ports.h"

#include <gtest/gtest.h>

namespace slipstream::command {
namespace {

TEST(ThisMachine, HasTheAddressesOfLoopback) {
  for (const char* host : {"127.0.0.1", "127.0.0.2", "localhost"}) EXPECT_TRUE(is_this_machine(host)) << host;
}

TEST(ThisMachine, HasNoAddressOfAnother) {
  EXPECT_FALSE(is_this_machine("192.0.2.1")) << "an address for examples, which no machine has";
  EXPECT_FALSE(is_this_machine("300.1.1.1")) << "no address at all";
}

}  // namespace
}  // namespace slipstream::command
