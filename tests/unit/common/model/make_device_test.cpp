// Devices by name, in a build without torch and in one with it.
#include "common/model/make_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(MakeDevice, MakesTheCpuDeviceWithItsSettings) {
  const auto device = make_device({.path = "portable"});
  ASSERT_TRUE(device.has_value()) << device.error().message;
  EXPECT_THAT((*device)->numerics_id({}), StartsWith("cpu/portable/"));
  EXPECT_TRUE((*device)->row_invariant());
}

TEST(MakeDevice, SaysWhereToGetTorchIfItIsNotThere) {
  const auto device = make_device({.name = {.kind = DeviceKind::torch_cpu}});
  if (device) GTEST_SKIP() << "libslipstream_torch.so is here";
  EXPECT_THAT(device.error().message, HasSubstr("make torch"));
}

}  // namespace
}  // namespace slipstream
