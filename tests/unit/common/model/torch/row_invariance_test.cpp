// A deterministic torch device is as row-invariant as our own.
#include "tests/unit/common/model/row_invariance.h"

#include "tests/unit/common/model/torch/torch_models.h"

namespace slipstream {
namespace {

OnDevice on_torch(const char* name, Type type, const char* type_name) {
  const bool real = *name == 0;
  std::string label = real ? "real" : name;
  std::erase(label, '-');
  return {.name = fmt::format("{}_{}", label, type_name),
          .model = real ? real_model() : test_data(name),
          .tokens = real ? 38 : 90,
          .slow = true,
          .device = [type](int threads) { return torch_cpu(threads, type, true); }};
}

INSTANTIATE_TEST_SUITE_P(Torch, RowInvariance,
                         testing::Values(on_torch("tiny-llama", Type::f32, "f32"), on_torch("tiny-llama3", Type::f32, "f32"),
                                         on_torch("tiny-qwen3", Type::bf16, "bf16"), on_torch("", Type::f32, "f32")),
                         [](const auto& info) { return info.param.name; });

// With graphs, padding and products of 64 rows. Threads of the CPU compute nothing of it, and the
// emulator takes half a minute for a model.
OnDevice on_own_kernels(const char* name, Type type, const char* type_name) {
  OnDevice device = on_torch(name, type, type_name);
  device.tokens = 70;
  device.threads = {1};
  device.device = [type](int threads) { return on_kernels(threads, type); };
  return device;
}

INSTANTIATE_TEST_SUITE_P(
    CudaKernels, RowInvariance,
    testing::Values(on_own_kernels("tiny-llama", Type::f32, "f32"), on_own_kernels("tiny-llama3", Type::bf16, "bf16"),
                    on_own_kernels("tiny-mistral", Type::f32, "f32"), on_own_kernels("tiny-gemma2", Type::f32, "f32"),
                    on_own_kernels("tiny-gemma3", Type::bf16, "bf16"), on_own_kernels("tiny-qwen3", Type::bf16, "bf16")),
    [](const auto& info) { return info.param.name; });

// All matrices in few bits.
OnDevice on_small_matrices(const char* name, WeightFormat format, const char* format_name) {
  OnDevice device = on_own_kernels(name, Type::bf16, format_name);
  device.device = [format](int threads) { return on_kernels(threads, Type::bf16, true, SmallMatrices{.format = format}); };
  return device;
}

INSTANTIATE_TEST_SUITE_P(SmallMatrices, RowInvariance,
                         testing::Values(on_small_matrices("tiny-llama", WeightFormat::q4_1, "q4_1")),
                         [](const auto& info) { return info.param.name; });

TEST(TorchRows, OfMoreSequencesShareTheStepsOfOurKernels) {
  EXPECT_EQ(torch_cpu(1).value()->sequences(), kCpuSequences);
  EXPECT_EQ(on_kernels(1).value()->sequences(), kSequencesPerVerifierMax);
}

TEST(TorchRows, ArePromisedByADeterministicDeviceAlone) {
  EXPECT_FALSE(torch_cpu(1).value()->row_invariant());
  EXPECT_TRUE(torch_cpu(1, Type::f32, true).value()->row_invariant());
  EXPECT_FALSE(on_kernels(1, Type::bf16, false).value()->row_invariant());
  EXPECT_TRUE(on_kernels(1, Type::bf16, true).value()->row_invariant());
}

}  // namespace
}  // namespace slipstream
