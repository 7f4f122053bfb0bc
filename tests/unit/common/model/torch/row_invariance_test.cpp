// A deterministic torch device is as row-invariant as our own.
#include "tests/unit/common/model/row_invariance.h"

#include <algorithm>
#include <array>

#include "common/sampling/near_tie.h"
#include "tests/unit/common/model/torch/torch_models.h"
#include "tests/unit/common/model/torch/trial.h"

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
                    on_own_kernels("tiny-gemma3", Type::bf16, "bf16"), on_own_kernels("tiny-llama3", Type::f16, "f16"),
                    on_own_kernels("tiny-qwen3", Type::bf16, "bf16")),
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

// As a Gemma has them: its steps have as many rows as torch's own, and few bits are refused.
TEST(TorchRows, OfWideHeadsAreLeftToTorch) {
  const auto device = on_kernels(1, Type::bf16, false).value();
  EXPECT_NE(device->weigher(), nullptr);
  ASSERT_TRUE(device->prepare({.heads = 4, .kv_heads = 1, .head_size = 256}));
  EXPECT_EQ(device->weigher(), nullptr);
  EXPECT_EQ(device->step_rows(), kCpuStepRows);
  const auto small = on_kernels(1, Type::bf16, true, SmallMatrices{.format = WeightFormat::q8_0}).value();
  const auto prepared = small->prepare({.heads = 4, .kv_heads = 1, .head_size = 256});
  ASSERT_FALSE(prepared);
  EXPECT_THAT(prepared.error().message, testing::HasSubstr("--weights bf16 takes others"));
}

// The rows of a step are those of a table of random numbers.
void expect_near_ties(std::shared_ptr<Device> device, float nats) {
  constexpr int32_t kRows = 40, kTokens = 5;
  const bool varies = !device->row_invariant();
  Trial trial(std::move(device), kRows);
  const Tensor in = trial.input(kTokens, 1), logits = trial.output(kTokens), ids = trial.output(1, Type::i32);
  trial.body([=](Ops& ops) {
    ops.put_columns(in, logits, 0);
    ops.sample_tokens(logits, ids);
  });
  SamplingScratch scratch;
  for (uint32_t step = 0; step < 3; ++step) {  // the later ones are replayed, with padding
    StepPlan plan = Trial::plan();
    for (int32_t row = 0; row < kRows; ++row) {
      plan.add({.token = row});
      plan.want({.seed = step, .position = static_cast<uint32_t>(row), .params = {.temperature = row % 2 == 0 ? 0.0F : 1.0F}});
    }
    const Step view = plan.view();
    trial.run(view);
    const std::vector<float> all = trial.read(logits);
    std::vector<uint8_t> expected;
    for (size_t row = 0; row < kRows; ++row) {
      std::array<Ranked, 2> best{};
      rank(std::span(all).subspan(row * kTokens, kTokens), view.sampling[row], scratch, best);
      expected.push_back(near_tie(best, nats) ? 1 : 0);
      EXPECT_EQ(static_cast<const int32_t*>(trial.device().host(ids))[row], best.front().token);
    }
    if (nats > 0.01F) {
      EXPECT_GT(std::ranges::count(expected, 1), 0);
    }
    const std::span<const uint8_t> found = trial.device().near_ties();
    EXPECT_EQ(std::vector(found.begin(), found.end()), varies ? expected : std::vector<uint8_t>{});
  }
}

TEST(TorchRows, OfWhichOthersMayTurnTheTokenAreCounted) {
  expect_near_ties(torch_cpu(1, Type::bf16).value(), 0.25F);
  expect_near_ties(torch_cpu(1, Type::f32).value(), 1e-3F);
  expect_near_ties(torch_cpu(1, Type::f16).value(), 0.05F);
  expect_near_ties(on_kernels(1, Type::bf16, false).value(), 0.25F);
  expect_near_ties(on_kernels(1, Type::bf16, true).value(), 0.25F);
}

}  // namespace
}  // namespace slipstream
