// The shared object as programs open it: through make_device(), which knows no torch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/model/make_device.h"
#include "tests/unit/common/model/golden.h"
#include "tests/unit/common/model/logits_of.h"

namespace slipstream {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr DeviceName kTorchCpu{.kind = DeviceKind::torch_cpu};

TEST(TorchLibrary, GivesADeviceThatComputesWhatTransformersDoes) {
  const auto device = make_device({.name = kTorchCpu, .threads = 2});
  ASSERT_TRUE(device.has_value()) << device.error().message;
  EXPECT_THAT((*device)->numerics_id({}), StartsWith("torch 2.11.0"));
  const GoldenLogits golden = golden_logits("tiny-llama");
  const auto ours = logits_of(LanguageModel::load(test_data("tiny-llama"), *device, {.cache_blocks = 4}), golden.tokens);
  EXPECT_LT(distance(ours, golden.logits).most, 1e-4);
}

TEST(TorchLibrary, NamesTheTypeThatItDoesNotHave) {
  const auto device = make_device({.name = kTorchCpu, .weights = "q4_0"});
  ASSERT_FALSE(device.has_value());
  EXPECT_EQ(device.error().message, "torch-cpu has no weights q4_0: choose one of file, f32, bf16, f16");
}

TEST(TorchLibrary, SaysWhatAGpuNeedsThatIsNotThere) {
  const auto device = make_device({.name = {.kind = DeviceKind::cuda, .ordinal = 63}});
  ASSERT_FALSE(device.has_value());
  EXPECT_THAT(device.error().message, StartsWith("cuda:63 "));
}

TEST(TorchLibrary, RefusesAModelWhoseNumbersAreNotFiniteOrTooLarge) {
  const auto device = make_device({.name = kTorchCpu, .weights = "f16"}).value();
  for (const uint16_t bits : {uint16_t{0x7FC0}, uint16_t{0xFF80}, uint16_t{0x7F00}}) {  // not a number, infinity, 1.7e38
    const uint16_t numbers[] = {0, bits};
    const HostMatrix matrix{
        .name = "m", .dtype = Dtype::bf16, .rows = 1, .cols = 2, .bytes = std::as_bytes(std::span(numbers))};
    const auto packed = device->pack({&matrix, 1}, Format::matrix);
    ASSERT_FALSE(packed.has_value()) << bits;
    EXPECT_THAT(packed.error().message, StartsWith("tensor m holds numbers that are not finite, or too large"));
  }
}

TEST(TorchLibrary, RefusesACacheThatTheMachineHasNoMemoryFor) {
  const auto device = make_device({.name = kTorchCpu}).value();
  const auto cache = device->cache(100'000, {.heads = 32, .kv_heads = 32, .head_size = 128}, 1 << 20, 8192);
  ASSERT_FALSE(cache.has_value());
  EXPECT_THAT(cache.error().message, HasSubstr("a cache of keys and values needs more memory than the device has: lower"));
}

}  // namespace
}  // namespace slipstream
