// A head that scores extra tokens, by the target's own output layer.
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/checkpoint/checkpoint.h"
#include "common/checkpoint/dequantise.h"
#include "tests/unit/common/model/extra_head.h"
#include "tests/unit/common/model/models.h"
#include "tests/unit/common/model/rows.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

constexpr int32_t kBlocks = 4, kText = 20;
constexpr int kCandidates = 8;

std::vector<TokenId> text() {
  std::vector<TokenId> tokens;
  for (int32_t i = 0; i < kText; ++i) tokens.push_back(4 + (i * 7 + i * i % 5) % 60);
  return tokens;
}

// A draft of one row behind a text, by a head that takes extra tokens.
class ExtraTokensOfAHead : public testing::Test {
 protected:
  static constexpr TokenId kRoot = 9;

  ExtraTokensOfAHead() {
    EXPECT_TRUE(blocks_.reserve(kText + 1));
    Rows rows(kBlocks);
    rows.prompt(rows.sequence_of(blocks_), blocks_, text(), 0);
    EXPECT_TRUE(model_.run(rows.view()).has_value());
    const Checkpoint target = Checkpoint::open(test_data("tiny-llama")).value();
    const HostMatrix output = target.matrix("model.embed_tokens.weight", 64, 32).value();
    std::vector<float> row(32);
    for (int32_t token = 0; token < 64; ++token) {
      read_row(output, token, row);
      output_.push_back(row);
    }
  }
  Result<void> draft(std::vector<ExtraToken> extra) {
    Rows rows(kBlocks);
    rows.tree(rows.sequence_of(blocks_), blocks_, kText, kRoot, {});
    rows.extra = std::move(extra);
    if (!rows.extra.empty()) rows.extra.resize(kExtraTokens);
    return model_.draft(rows.view());
  }
  float by_the_target(TokenId token) const {
    float sum = 0;
    for (size_t i = 0; i < 32; ++i) sum += output_[static_cast<size_t>(token)][i] * model_.drafted_states()[i];
    return sum;
  }
  TokenId other(int skip) const {  // a token that the head does not have
    TokenId token = 0;
    for (; model_.draft_vocabulary()->allows(token) || skip-- > 0; ++token) {
    }
    return token;
  }

  const Folder folder_;
  LanguageModel model_ =
      load_alone(test_data("tiny-llama"),
                 {.path = CpuPath::portable, .weights = WeightFormat::bf16, .guesses = WeightFormat::bf16},
                 {.cache_blocks = kBlocks, .head = extra_head(folder_), .head_ranked = kCandidates, .head_traced = true})
          .value();
  BlockPool pool_{kBlocks};
  BlockTable blocks_{pool_};
  std::vector<std::vector<float>> output_;  // of the target
};

TEST_F(ExtraTokensOfAHead, HaveTheLogitsOfTheTargetsOutputLayerAndTheirBonus) {
  const TokenId first = other(0), second = other(1), third = other(2);
  ASSERT_TRUE(draft({{first, 0.0F}, {second, 1.5F}}).has_value());
  EXPECT_NEAR(model_.drafted_logits()[static_cast<size_t>(first)], by_the_target(first), 1e-4);
  EXPECT_NEAR(model_.drafted_logits()[static_cast<size_t>(second)], by_the_target(second) + 1.5F, 1e-4);
  EXPECT_EQ(model_.drafted_logits()[static_cast<size_t>(third)], -std::numeric_limits<float>::infinity());
}

TEST_F(ExtraTokensOfAHead, AreDraftedWhereTheyAreTheLikeliest) {
  ASSERT_TRUE(draft({}).has_value());
  const std::vector<Ranked> without(model_.drafted(0).begin(), model_.drafted(0).end());
  ASSERT_TRUE(draft({{other(0), 0.0F}, {other(1), 100.0F}}).has_value());
  EXPECT_EQ(model_.drafted(0).front().token, other(1));
  EXPECT_GT(model_.drafted(0).front().confidence, 0.99F);
  ASSERT_TRUE(draft({}).has_value());
  EXPECT_THAT(model_.drafted(0), testing::ElementsAreArray(without)) << "those of the pass before are gone";
}

TEST_F(ExtraTokensOfAHead, OutOfRangeAreRefused) {
  EXPECT_THAT(draft({{64, 0.0F}}).error().message, HasSubstr("extra token 64 of row 0 is not in [-1, 64)"));
}

}  // namespace
}  // namespace slipstream
