#include "common/text/detokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "common/text/utf8.h"
#include "tests/unit/common/text/golden.h"

namespace slipstream {
namespace {

bool whole_utf8(const std::string& text) { return lossy_utf8(text) == text; }

std::string streamed(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  Detokenizer detokenizer(tokenizer);
  std::string text;
  for (TokenId id : ids) {
    const std::string piece = detokenizer.push(id).value();
    EXPECT_TRUE(whole_utf8(piece));
    text += piece;
  }
  return text + detokenizer.flush();
}

TEST(Detokenizer, WaitsForTheRestOfACharacter) {
  const Tokenizer tokenizer = tiny_tokenizer();
  Detokenizer detokenizer(tokenizer);
  const auto ids = tokenizer.encode("🤷", false).value();
  ASSERT_EQ(ids.size(), 4u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(detokenizer.push(ids[i]).value(), "");
  EXPECT_EQ(detokenizer.push(ids[3]).value(), "🤷");
  EXPECT_EQ(detokenizer.flush(), "");
}

TEST(Detokenizer, GivesAnUnfinishedCharacterAsOneReplacementAtTheEnd) {
  const Tokenizer tokenizer = tiny_tokenizer();
  auto ids = tokenizer.encode("a🤷", false).value();
  ids.pop_back();
  EXPECT_EQ(streamed(tokenizer, ids), "a\uFFFD");
}

TEST(Detokenizer, SkipsSpecialTokensEvenInsideACharacter) {
  const Tokenizer tokenizer = tiny_tokenizer();
  auto ids = tokenizer.encode("é", false).value();
  ids.insert(ids.begin() + 1, tokenizer.id("<|im_end|>").value());
  EXPECT_EQ(streamed(tokenizer, ids), "é");
}

TEST(Detokenizer, RefusesAnIdOutsideTheVocabularyAndGoesOn) {
  const Tokenizer tokenizer = tiny_tokenizer();
  Detokenizer detokenizer(tokenizer);
  EXPECT_FALSE(detokenizer.push(tokenizer.vocabulary()).has_value());
  EXPECT_EQ(detokenizer.push(tokenizer.id("a").value()).value(), "a");
}

TEST(Detokenizer, EqualsTheWholeDecodeForEveryGoldenText) {
  const Tokenizer tokenizer = tiny_tokenizer();
  for (const auto& one : golden("texts")) EXPECT_EQ(streamed(tokenizer, one["ids"]), one["decoded"]);
}

TEST(Detokenizer, EqualsTheWholeDecodeForRandomIds) {
  const Tokenizer tokenizer = tiny_tokenizer();
  std::mt19937 random(11);
  for (int i = 0; i < 2000; ++i) {
    std::vector<TokenId> ids(random() % 40);
    // Half of the draws from the byte tokens, which follow the special ones: mostly broken UTF-8.
    for (TokenId& id : ids) id = static_cast<TokenId>(random() % (random() % 2 == 0 ? 259 : tokenizer.vocabulary()));
    EXPECT_EQ(streamed(tokenizer, ids), lossy_utf8(tokenizer.decode(ids, true).value()));
  }
}

TEST(Detokenizer, EqualsTheWholeDecodeForRandomEmojiCutAnywhere) {
  const Tokenizer tokenizer = tiny_tokenizer();
  const std::vector<std::string> parts = {"🤷🏽\u200d♀️", "🇩🇪", "e\u0301", "日",
                                          " ",           "x",  "\uFFFD",  "👩‍👩‍👧‍👦"};
  std::mt19937 random(13);
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (auto n = 1 + random() % 10; n > 0; --n) text += parts[random() % parts.size()];
    auto ids = tokenizer.encode(text, false).value();
    EXPECT_EQ(streamed(tokenizer, ids), text);
    ids.resize(random() % (ids.size() + 1));
    EXPECT_EQ(streamed(tokenizer, ids), lossy_utf8(tokenizer.decode(ids, true).value()));
  }
}

}  // namespace
}  // namespace slipstream
