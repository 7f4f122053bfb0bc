// What `--weights` means on the devices of torch. Needs no torch.
#include "common/model/torch_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::HasSubstr;

constexpr DeviceName kGpu{.kind = DeviceKind::cuda}, kTorchCpu{.kind = DeviceKind::torch_cpu};

TEST(TorchOptions, TakeWhatTheFileHasAsF32OnACpuAndAsBf16OnAGpu) {
  EXPECT_EQ(torch_options(kTorchCpu, "file")->type, Type::f32);
  EXPECT_EQ(torch_options(kGpu, "file")->type, Type::bf16);
  EXPECT_FALSE(torch_options(kGpu, "file")->small);
  EXPECT_EQ(torch_options(kGpu, "f32")->type, Type::f32);
  EXPECT_EQ(torch_options(kTorchCpu, "f16")->type, Type::f16);
}

TEST(TorchOptions, KeepSmallMatricesOnAGpuAsTheFileHasThem) {
  const TorchOptions options = torch_options(kGpu, "small").value();
  EXPECT_EQ(options.type, Type::bf16);
  ASSERT_TRUE(options.small);
  EXPECT_FALSE(options.small->format);
}

TEST(TorchOptions, MakeAllMatricesOfTheFormatThatIsAskedFor) {
  EXPECT_EQ(torch_options(kGpu, "q4_0")->small->format, WeightFormat::q4_0);
  EXPECT_EQ(torch_options(kGpu, "q6_k")->small->format, WeightFormat::q6_k);
  EXPECT_FALSE(torch_options(kGpu, "bf16")->small);
}

TEST(TorchOptions, RefuseWhatTheDeviceDoesNotHave) {
  EXPECT_EQ(torch_options(kTorchCpu, "small").error().message,
            "torch-cpu has no weights small: choose one of file, f32, bf16, f16");
  EXPECT_THAT(torch_options(kGpu, "q2").error().message, HasSubstr("cuda:N has no weights q2"));
}

}  // namespace
}  // namespace slipstream
