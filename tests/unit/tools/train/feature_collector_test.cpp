// What is collected is what the served target computes.
#include "tools/train/feature_collector.h"

#include <algorithm>
#include <bit>

#include <gmock/gmock.h>

#include "tests/unit/common/model/rows.h"
#include "tests/unit/tools/train/tiny_features.h"

namespace slipstream::train {
namespace {

const std::vector<int32_t> kTaps{0, 1, 2};

ChatDocument long_chat() {
  ChatDocument chat{.tokens = {}, .answer = 280};
  for (int i = 0; i < 600; ++i) chat.tokens.push_back((7 + i * i * 31) % 64);
  return chat;
}

struct Computed {
  std::vector<float> features, logits;
};
// The first `rows` rows in one pass.
Computed served(const ChatDocument& chat, int32_t rows) {
  auto model = load_alone(tiny_target(), {}, {.cache_blocks = 32, .taps = kTaps}).value();
  BlockPool pool(32);
  BlockTable blocks(pool);
  EXPECT_TRUE(blocks.reserve(rows));
  Rows plan(32);
  plan.prompt(plan.sequence_of(blocks), blocks, std::span(chat.tokens).first(static_cast<size_t>(rows)), 0);
  EXPECT_TRUE(model.run(plan.view()).has_value());
  return {{model.features().begin(), model.features().end()}, {model.logits().begin(), model.logits().end()}};
}

TEST(FeatureCollector, HasTheFeaturesOfTheLanguageModelRoundedToBf16) {
  auto collector = FeatureCollector::load(tiny_target(), {.threads = 2}, kTaps, 600).value();
  const CollectedDocument document = collector.collect(long_chat()).value();
  const std::vector<float> expected = served(long_chat(), 256).features;
  ASSERT_EQ(document.features.size(), 600u * kTaps.size() * static_cast<size_t>(tiny_config().hidden));
  for (size_t i = 0; i < expected.size(); ++i) {
    const float value = std::bit_cast<float>(uint32_t{document.features[i]} << 16);
    ASSERT_NEAR(value, expected[i], std::abs(expected[i]) / 256) << i;
  }
}

TEST(FeatureCollector, HasTheLikeliestTokenAfterEachOfTheAnswer) {
  auto collector = FeatureCollector::load(tiny_target(), {}, kTaps, 600).value();
  ChatDocument chat = long_chat();
  chat.answer = 200;  // within the first pass
  const CollectedDocument document = collector.collect(chat).value();
  const std::vector<float> logits = served(chat, 256).logits;
  ASSERT_EQ(document.choices.size(), chat.tokens.size());
  for (size_t row = 0; row < 256; ++row) {
    const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(row * 64);
    const auto likeliest = static_cast<TokenId>(std::max_element(begin, begin + 64) - begin);
    EXPECT_EQ(document.choices[row], row < 199 ? -1 : likeliest) << row;
  }
  EXPECT_THAT(std::span(document.choices).subspan(199), testing::Each(testing::Ge(0)));
}

TEST(FeatureCollector, ComputesAChatAsIfItWereTheFirst) {
  auto collector = FeatureCollector::load(tiny_target(), {}, kTaps, 600).value();
  const CollectedDocument first = collector.collect(long_chat()).value();
  ASSERT_TRUE(collector.collect(random_chats(1)[0]).has_value());
  EXPECT_EQ(collector.collect(long_chat()).value().features, first.features);
}

// In passes that chats share, and in a cache that has no room for all of them.
TEST(FeatureCollector, ComputesManyChatsAsEachAlone) {
  auto collector = FeatureCollector::load(tiny_target(), {}, kTaps, 600).value();
  std::vector<ChatDocument> chats = random_chats(70);
  chats.insert(chats.begin() + 9, long_chat());
  chats.push_back(long_chat());
  const std::vector<CollectedDocument> together = collector.collect(chats).value();
  ASSERT_EQ(together.size(), chats.size());
  for (size_t i = 0; i < chats.size(); ++i) {
    const CollectedDocument alone = collector.collect(chats[i]).value();
    EXPECT_EQ(together[i].chat.tokens, chats[i].tokens);
    EXPECT_EQ(together[i].choices, alone.choices) << i;
    EXPECT_EQ(together[i].features, alone.features) << i;
  }
}

TEST(ToBf16, RoundsToTheNearest) {
  EXPECT_EQ(to_bf16(1.0F), 0x3F80);
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3F808000u)), 0x3F80);  // a tie goes to the even one
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3F818000u)), 0x3F82);
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3F808001u)), 0x3F81);
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x7F800001u)) & 0x7FC0, 0x7FC0);  // no number
}

}  // namespace
}  // namespace slipstream::train
