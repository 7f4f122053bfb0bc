// The torch device against transformers in float32 over the same weights.
#include "tests/unit/common/model/golden.h"

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/common/model/logits_of.h"
#include "tests/unit/common/model/torch/torch_models.h"

namespace slipstream {
namespace {

class TorchGolden : public testing::TestWithParam<const char*> {
 protected:
  Distance apart(Type type, bool deterministic) const {
    const GoldenLogits golden = golden_logits(GetParam());
    return distance(logits_of(load_on_torch(test_data(GetParam()), type, deterministic), golden.tokens), golden.logits);
  }
};

TEST_P(TorchGolden, LogitsEqualTransformersInF32) {
  for (const bool deterministic : {false, true}) {
    const Distance found = apart(Type::f32, deterministic);
    EXPECT_LT(found.mean, 1e-5) << (deterministic ? "deterministic" : "fast");
    EXPECT_LT(found.most, 1e-4);
  }
}

// 8 and 11 bits of fraction, in activations and in the cache.
TEST_P(TorchGolden, LogitsAreNearThemInHalfTheBits) {
  const Distance bf16 = apart(Type::bf16, false), f16 = apart(Type::f16, false);
  EXPECT_LT(bf16.mean, 0.05);
  EXPECT_LT(bf16.most, 0.5);
  EXPECT_LT(f16.mean, 0.01);
  EXPECT_LT(f16.most, 0.1);
}

TEST_P(TorchGolden, LogitsOfOurKernelsEqualTransformers) {
  const GoldenLogits golden = golden_logits(GetParam());
  const auto on = [&](Type type) {
    const auto device = on_kernels(2, type).value();
    return distance(logits_of(LanguageModel::load(test_data(GetParam()), device, {.cache_blocks = 4}), golden.tokens),
                    golden.logits);
  };
  const Distance f32 = on(Type::f32), bf16 = on(Type::bf16), f16 = on(Type::f16);
  EXPECT_LT(f32.mean, 1e-5);
  EXPECT_LT(f32.most, 1e-4);
  EXPECT_LT(bf16.mean, 0.05);
  EXPECT_LT(bf16.most, 0.5);
  EXPECT_LT(f16.mean, 0.01);
  EXPECT_LT(f16.most, 0.1);
}

INSTANTIATE_TEST_SUITE_P(TinyModels, TorchGolden, testing::Values("tiny-llama", "tiny-llama3", "tiny-qwen2", "tiny-qwen3"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

// In tiny-llama all matrices have a multiple of 32 columns; in tiny-qwen2 and tiny-mistral all but
// one of each layer, which stays in bf16.
TEST(TorchSmallGolden, LogitsOfSmallMatricesAreNearThem) {
  for (const char* model : {"tiny-llama", "tiny-qwen2", "tiny-mistral"}) {
    const GoldenLogits golden = golden_logits(model);
    const auto device = on_kernels(2, Type::bf16, true, SmallMatrices{.format = WeightFormat::q8_0}).value();
    auto target = LanguageModel::load(test_data(model), device, {.cache_blocks = 4});
    EXPECT_THAT(target->numerics_id(), testing::HasSubstr("/bf16+q8_0/"));
    const Distance apart = distance(logits_of(std::move(target), golden.tokens), golden.logits);
    EXPECT_LT(apart.mean, 0.1) << model;
    EXPECT_LT(apart.most, 1.0) << model;
  }
}

TEST(TorchGemmaGolden, LogitsEqualTransformersInF32) {
  for (const char* model : {"tiny-gemma2", "tiny-gemma3"}) {
    const GoldenLogits golden = golden_logits(model);
    const auto expect_near = [&](Result<LanguageModel> ours, const char* how) {
      const Distance apart = distance(logits_of(std::move(ours), golden.tokens), golden.logits);
      EXPECT_LT(apart.mean, 1e-5) << model << ", " << how;
      EXPECT_LT(apart.most, 1e-4) << model << ", " << how;
    };
    expect_near(load_on_torch(test_data(model), Type::f32, false), "fast");
    expect_near(load_on_torch(test_data(model), Type::f32, true), "deterministic");
    expect_near(LanguageModel::load(test_data(model), on_kernels(2, Type::f32).value(), {.cache_blocks = 4}), "our kernels");
  }
}

TEST(TorchRealGolden, AChatsTopLogitsEqualTransformers) {
  if (!has_real_model()) GTEST_SKIP() << kNoRealModel;
  const GoldenChat golden;
  const auto apart = golden.with(logits_of(load_on_torch(real_model()), golden.tokens));
  EXPECT_LT(apart.error, 2e-4);
  EXPECT_EQ(apart.agreed, static_cast<int>(golden.tokens.size()));
}

// Against f32, whose activations and cache are f32, too: as near as matrices unpacked to bf16.
TEST(TorchRealGguf, LogitsOfItsOwnFourAndEightBitsOnOurKernelsAreAsExactAsInBf16) {
  if (!std::filesystem::exists(real_gguf())) GTEST_SKIP() << kNoRealGguf;
  const std::vector<TokenId> all = GoldenChat().tokens;
  const std::span tokens = std::span(all).first(12);
  const std::vector<float> exact = logits_of(load_on_torch(real_gguf()), tokens);
  const auto apart = [&](std::optional<SmallMatrices> small) {
    const auto device = on_kernels(2, Type::bf16, true, small).value();
    return distance(logits_of(LanguageModel::load(real_gguf(), device, {.cache_blocks = 4}), tokens), exact);
  };
  const Distance small = apart(SmallMatrices{}), wide = apart({});
  EXPECT_LT(small.mean, 1.1 * wide.mean) << "bf16: " << wide.mean;
  EXPECT_LT(small.most, 3);
}

}  // namespace
}  // namespace slipstream
