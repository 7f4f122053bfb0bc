// Our forward pass against transformers in float32 over the same bf16 weights, on each path.
#include "tests/unit/common/model/golden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/cpu/kernels.h"
#include "tests/unit/common/model/logits_of.h"

namespace slipstream {
namespace {

// Its matrices read activations rounded to bf16.
bool rounds(CpuPath path) { return linear_kernel(kernels(path), WeightFormat::bf16).in == Activations::bf16; }

class Golden : public testing::TestWithParam<std::tuple<const char*, CpuPath>> {};

// In f32 only the order of sums differs; with activations rounded to bf16 (8 bits of fraction,
// relative error up to 2^-9 each) a two-layer model is off by about 1 % of a logit.
TEST_P(Golden, LogitsEqualTransformersWithinTheRoundingOfThePath) {
  const auto [model, path] = GetParam();
  const GoldenLogits golden = golden_logits(model);
  const auto ours = logits_of(test_data(model), {.threads = 2, .path = path}, golden.tokens);
  ASSERT_EQ(ours.size(), golden.logits.size());
  const Distance apart = distance(ours, golden.logits);
  RecordProperty("mean", std::to_string(apart.mean));
  RecordProperty("most", std::to_string(apart.most));
  EXPECT_LT(apart.mean, rounds(path) ? 0.03 : 1e-5);
  EXPECT_LT(apart.most, rounds(path) ? 0.3 : 1e-4);
}

std::string test_name(const testing::TestParamInfo<Golden::ParamType>& info) {
  std::string model = std::get<0>(info.param);
  std::erase(model, '-');
  return model + "_" + name(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(TinyModels, Golden,
                         testing::Combine(testing::Values("tiny-llama", "tiny-llama3", "tiny-qwen2", "tiny-qwen3"),
                                          testing::ValuesIn(available_cpu_paths().begin(), available_cpu_paths().end())),
                         test_name);

class RealGolden : public testing::TestWithParam<CpuPath> {};

TEST_P(RealGolden, AChatsTopLogitsEqualTransformers) {
  if (!has_real_model()) GTEST_SKIP() << kNoRealModel;
  const GoldenChat golden;
  const auto apart = golden.with(logits_of(real_model(), {.threads = 2, .path = GetParam()}, golden.tokens));
  RecordProperty("mean", std::to_string(apart.error));
  RecordProperty("agreed", apart.agreed);
  const bool coarse = rounds(GetParam());
  EXPECT_LT(apart.error, coarse ? 0.1 : 2e-4);
  EXPECT_GE(apart.agreed, static_cast<int>(golden.tokens.size()) * (coarse ? 95 : 100) / 100);
}

INSTANTIATE_TEST_SUITE_P(Paths, RealGolden, testing::ValuesIn(available_cpu_paths().begin(), available_cpu_paths().end()),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace slipstream
