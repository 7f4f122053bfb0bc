#include "common/base/device_name.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(DeviceNames, AreOneOfThree) {
  EXPECT_EQ(device_name("cpu"), DeviceName{});
  EXPECT_EQ(device_name("torch-cpu"), (DeviceName{.kind = DeviceKind::torch_cpu}));
  EXPECT_EQ(device_name("cuda"), (DeviceName{.kind = DeviceKind::cuda, .ordinal = 0}));
  EXPECT_EQ(device_name("cuda:12"), (DeviceName{.kind = DeviceKind::cuda, .ordinal = 12}));
}

TEST(DeviceNames, AreNothingElse) {
  for (const char* name : {"", "gpu", "CPU", "cuda:", "cuda:-1", "cuda:64", "cuda:1x", "cuda:x", "cuda1", "cuda:99999999999"}) {
    EXPECT_EQ(device_name(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace slipstream
