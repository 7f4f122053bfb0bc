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
                         testing::Combine(testing::Values("tiny-llama", "tiny-llama3", "tiny-qwen2", "tiny-qwen3",
                                                          "tiny-mistral", "tiny-yarn", "tiny-gemma2", "tiny-gemma3"),
                                          testing::ValuesIn(available_cpu_paths().begin(), available_cpu_paths().end())),
                         test_name);

class FarGolden : public testing::TestWithParam<CpuPath> {};

// As in make_golden.py.
TokenId far_token(int64_t position) { return static_cast<TokenId>(4 + (position * position % 8191 * 31 + position * 7) % 60); }

// A text as long as the longest context. In a model of one layer the keys and values of a position
// depend on no other, so rows that see one position only fill the cache quickly. Then some rows see
// all before them: each alone, and the last ones as a tree behind the others. The attention of such
// a model is flat, and its sums in f32 are one key after the other: over 131,072 keys they are off
// by 2e-5 of a value, which is the most of what the bounds leave.
TEST_P(FarGolden, LogitsAtFarPositionsEqualTransformers) {
  const auto file = SafetensorsFile::open(test_data("tiny-far") / "golden.safetensors").value();
  const std::vector<float> at = read_floats(file.tensors().at("positions")), golden = read_floats(file.tensors().at("logits"));
  constexpr int32_t kContext = kContextTokensMax, kBlocks = kContext / kBlockTokens + 1;
  auto model = load_alone(test_data("tiny-far"), {.threads = 2, .path = GetParam()}, {.cache_blocks = kBlocks});
  ASSERT_TRUE(model.has_value()) << model.error().message;
  ASSERT_EQ(model->config().context_max, kContext);
  BlockPool pool(kBlocks);
  BlockTable blocks(pool);
  ASSERT_TRUE(blocks.reserve(kContext));
  StepPlan fill;
  fill.blocks_max = kBlocks;
  for (int32_t from = 0; from < kContext; from += kCpuStepRows) {
    fill.clear();
    const int32_t sequence = fill.add_sequence(blocks.blocks());
    for (int32_t i = from; i < from + kCpuStepRows; ++i) {
      fill.add({.token = far_token(i), .position = i, .slot = blocks.slot(i), .sequence = sequence, .visible = 1});
    }
    ASSERT_TRUE(model->run(fill.view()).has_value());
  }
  const auto expect_golden = [&](std::span<const float> logits, size_t first, const char* how) {
    const Distance apart = distance(logits, std::span(golden).subspan(first * 64, logits.size()));
    EXPECT_LT(apart.mean, rounds(GetParam()) ? 0.03 : 1.5e-4) << how;
    EXPECT_LT(apart.most, rounds(GetParam()) ? 0.3 : 5e-4) << how;
  };
  for (size_t i = 0; i < at.size(); ++i) {
    Rows rows(kBlocks);
    const auto position = static_cast<int32_t>(at[i]);
    const std::vector<TokenId> token{far_token(position)};
    rows.prompt(rows.sequence_of(blocks), blocks, token, position);
    ASSERT_TRUE(model->run(rows.view()).has_value());
    expect_golden(model->logits(), i, "alone");
  }
  constexpr int32_t kTreeRoot = kContext - 9;  // of the tree: the last of those positions hang behind it
  std::vector<TreeNode> chain;
  for (int32_t i = 1; i < 9; ++i) chain.push_back({.token = far_token(kTreeRoot + i), .parent = i - 2});
  Rows rows(kBlocks);
  rows.tree(rows.sequence_of(blocks), blocks, kTreeRoot, far_token(kTreeRoot), chain);
  ASSERT_TRUE(model->run(rows.view()).has_value());
  expect_golden(model->logits(), at.size() - 9, "in a tree");
}

INSTANTIATE_TEST_SUITE_P(Paths, FarGolden, testing::ValuesIn(available_cpu_paths().begin(), available_cpu_paths().end()),
                         [](const auto& info) { return std::string(name(info.param)); });

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
