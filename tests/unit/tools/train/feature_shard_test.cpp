// Feature shards: what is written is read, and what is damaged is refused.
#include "tools/train/feature_shard.h"

#include <bit>
#include <cmath>

#include <gmock/gmock.h>

#include "tests/unit/tools/train/tiny_features.h"
#include "tools/train/head_data.h"

namespace slipstream::train {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

class FeatureShardTest : public testing::Test {
 protected:
  FeatureShardTest() { write_features(folder_.path(), documents_); }
  std::string refusal() const {
    const auto opened = FeatureShard::open(folder_ / "0.shard", kTokenizer);
    return opened ? "none" : opened.error().message;
  }

  TestFolder folder_;
  const std::vector<CollectedDocument> documents_ = collected(random_chats(9));
};

TEST_F(FeatureShardTest, HasWhatWasWritten) {
  const FeatureShard shard = FeatureShard::open(folder_ / "0.shard", kTokenizer).value();
  EXPECT_EQ(shard.origin(), FeatureOrigin::of(9, 32, std::vector<int32_t>{0, 1, 2}));
  ASSERT_EQ(shard.documents().size(), documents_.size());
  for (size_t i = 0; i < documents_.size(); ++i) {
    EXPECT_THAT(shard.documents()[i].tokens, ElementsAreArray(documents_[i].chat.tokens));
    EXPECT_THAT(shard.documents()[i].choices, ElementsAreArray(documents_[i].choices));
    EXPECT_THAT(shard.documents()[i].features, ElementsAreArray(documents_[i].features));
    EXPECT_EQ(shard.documents()[i].answer, 4);
  }
}

TEST_F(FeatureShardTest, IsRefusedIfItWasCutOrChangedOrIsOfAnotherTokenizer) {
  const std::string whole = folder_.read("0.shard");
  folder_.write("0.shard", whole.substr(0, whole.size() - 1));
  EXPECT_THAT(refusal(), HasSubstr("0.shard"));
  std::string changed = whole;
  changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
  folder_.write("0.shard", changed);
  EXPECT_THAT(refusal(), HasSubstr("0.shard"));
  folder_.write("0.shard", whole);
  EXPECT_EQ(refusal(), "none");
  EXPECT_FALSE(FeatureShard::open(folder_ / "0.shard", kTokenizer + 1).has_value());
}

TEST_F(FeatureShardTest, OfFiveChatsOneIsHeldOut) {
  const HeadData data = HeadData::open(folder_.path(), kTokenizer, 5).value();
  ASSERT_EQ(data.train().size(), 8u);
  ASSERT_EQ(data.held_out().size(), 1u);
  EXPECT_THAT(data.held_out()[0].tokens, ElementsAreArray(documents_[4].chat.tokens));
  EXPECT_FALSE(HeadData::open(folder_.path(), kTokenizer, 100).has_value());
}

TEST(FrequentTokens, AreThoseOfAnswersAndChoices) {
  const std::vector<TokenId> tokens{9, 9, 9, 7, 5, 7, 5}, choices{-1, -1, 5, 3, 3, 3, 8};
  const FeatureDocument document{.tokens = tokens, .choices = choices, .answer = 3, .features = {}};
  // 3: three times, 5: thrice, 7: twice, 8: once, then those that are not there
  EXPECT_THAT(frequent_tokens({&document, 1}, 10, 2), ElementsAre(3, 5));
  EXPECT_THAT(frequent_tokens({&document, 1}, 10, 5), ElementsAre(0, 3, 5, 7, 8));
  EXPECT_EQ(frequent_tokens({&document, 1}, 10, 99).size(), 10u);
}

// Of each number on its own, over all tokens but the first of each chat; the number behind the taps
// of the head, which its final norm reads, has none.
TEST_F(FeatureShardTest, ScalesAreTheRootMeanSquaresOfTheTaps) {
  const HeadData data = HeadData::open(folder_.path(), kTokenizer, 5).value();
  const std::vector<float> scales = feature_scales(data, 64).value();
  ASSERT_EQ(scales.size(), 64u);
  for (const size_t number : {0U, 31U, 32U, 63U}) {
    double squares = 0, count = 0;
    for (const FeatureDocument& document : data.train()) {
      for (size_t token = 1; token < document.tokens.size(); ++token) {
        const uint16_t feature = document.features[token * 96 + number];
        squares += std::pow(double{std::bit_cast<float>(uint32_t{feature} << 16)}, 2);
        ++count;
      }
    }
    EXPECT_NEAR(scales[number], std::sqrt(squares / count), 1e-4 * scales[number]) << number;
  }
}

}  // namespace
}  // namespace slipstream::train
