// Which tokens a head scores beside its own, and that it drafts them.
#include "common/drafting/extra_tokens.h"

#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/model/cpu/cpu_device.h"
#include "tests/unit/common/model/extra_head.h"

namespace slipstream {
namespace {

using testing::Each;
using testing::Field;
using testing::IsEmpty;

const std::filesystem::path kData = SLIPSTREAM_TEST_DATA;
constexpr RowSampling kGreedy{.params = {.temperature = 0}}, kSampled{.seed = 5, .position = 3, .params = {.temperature = 1}};

LanguageModel headed(const std::filesystem::path& head) {
  return LanguageModel::load(kData / "tiny-llama", make_cpu_device({}).value(), {.cache_blocks = 8, .head = head}).value();
}

class ExtraTokensTest : public testing::Test {
 protected:
  std::vector<TokenId> of(std::span<const TokenId> words, const RowSampling& row) {
    all_.clear();
    extra_.add(words, row, all_);
    EXPECT_EQ(all_.size(), static_cast<size_t>(kExtraTokens));
    std::vector<TokenId> tokens;
    for (const ExtraToken& each : all_) {
      if (each.token >= 0) tokens.push_back(each.token);
    }
    return tokens;
  }
  // Tokens that the head does not have.
  std::vector<TokenId> others(size_t count) const {
    std::vector<TokenId> tokens;
    for (TokenId token = 0; tokens.size() < count; ++token) {
      if (!model_.draft_vocabulary()->allows(token)) tokens.push_back(token);
    }
    return tokens;
  }

  const Folder folder_;
  LanguageModel model_ = headed(extra_head(folder_));
  ExtraTokens extra_{model_};
  std::vector<ExtraToken> all_;
};

TEST_F(ExtraTokensTest, OfAGreedyRowAreTheWordsOfItsContext) {
  const std::vector<TokenId> words = others(3);
  EXPECT_EQ(of(words, kGreedy), words);
  EXPECT_THAT(std::span(all_).first(3), Each(Field(&ExtraToken::bonus, kContextWordBonus)));
  EXPECT_THAT(of({}, kGreedy), IsEmpty());
}

TEST_F(ExtraTokensTest, OfASampledRowAreTheFavouritesOfItsNoiseAsWell) {
  FavouredTokens favoured(*model_.draft_vocabulary(), model_.config().vocabulary);
  const auto expected = favoured.of(kSampled);
  EXPECT_EQ(of({}, kSampled), std::vector(expected.begin(), expected.end()));
  EXPECT_THAT(std::span(all_).first(expected.size()), Each(Field(&ExtraToken::bonus, 0.0F)));
  EXPECT_THAT(of({}, {.seed = 5, .position = 3, .params = {.temperature = 1, .top_p = 0.9F}}), IsEmpty())
      << "filters remove them";
}

TEST_F(ExtraTokensTest, AreEachThereOnce) {
  FavouredTokens favoured(*model_.draft_vocabulary(), model_.config().vocabulary);
  const std::vector<TokenId> words{favoured.of(kSampled)[2]};
  std::vector<TokenId> found = of(words, kSampled);
  EXPECT_EQ(found.size(), favoured.of(kSampled).size());
  std::ranges::sort(found);
  EXPECT_EQ(std::ranges::adjacent_find(found), found.end());
}

TEST(ExtraTokens, AreNoneForAHeadWithOutputRowsOfItsOwn) {
  const LanguageModel model = headed(kData / "tiny-head");
  std::vector<ExtraToken> all;
  ExtraTokens(model).add({}, kSampled, all);
  EXPECT_THAT(all, IsEmpty());
}

}  // namespace
}  // namespace slipstream
