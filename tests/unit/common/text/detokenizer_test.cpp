#include "common/text/detokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "common/text/utf8.h"
#include "tests/data/sentencepiece_gguf.h"
#include "tests/unit/common/text/golden.h"

namespace slipstream {
namespace {

bool whole_utf8(const std::string& text) { return lossy_utf8(text) == text; }

std::string streamed(const Tokenizer& tokenizer, const std::vector<TokenId>& ids, bool begins_text = false) {
  Detokenizer detokenizer(tokenizer, begins_text);
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

class SentencePieceStream : public testing::Test {
 protected:
  std::vector<TokenId> random_ids(size_t most) {
    std::vector<TokenId> ids(random_() % most);
    // Half of them are tokens of bytes, which follow the special ones: mostly broken UTF-8.
    for (TokenId& id : ids) id = static_cast<TokenId>(random_() % (random_() % 2 == 0 ? 259 : tokenizer_.vocabulary()));
    return ids;
  }
  TemporaryFolder folder_;
  const Tokenizer tokenizer_ = sentencepiece_tokenizer("with_bytes", folder_.path() / "words.gguf");
  std::mt19937 random_{17};
};

TEST_F(SentencePieceStream, WaitsForTheRestOfACharacterOfByteTokens) {
  Detokenizer detokenizer(tokenizer_);
  for (const char* byte : {"<0xF0>", "<0x9F>", "<0x98>"}) EXPECT_EQ(detokenizer.push(tokenizer_.id(byte).value()).value(), "");
  EXPECT_EQ(detokenizer.push(tokenizer_.id("<0x80>").value()).value(), "😀");
  EXPECT_EQ(detokenizer.push(tokenizer_.id("<0x0A>").value()).value(), "\n");
  EXPECT_EQ(detokenizer.push(tokenizer_.id("<0xC3>").value()).value(), "");
  EXPECT_EQ(detokenizer.push(tokenizer_.id("▁the").value()).value(), "\uFFFD the") << "the character never came";
  EXPECT_EQ(detokenizer.flush(), "");
}

TEST_F(SentencePieceStream, KeepsTheSpaceOfAnAnswerThatGoesOnATextAndDropsThatOfATextsBeginning) {
  const TokenId begin = tokenizer_.id("<s>").value(), the = tokenizer_.id("▁the").value();
  EXPECT_EQ(streamed(tokenizer_, {the, the}), " the the");
  EXPECT_EQ(streamed(tokenizer_, {the, the}, true), "the the");
  EXPECT_EQ(streamed(tokenizer_, {begin, the}, true), "the") << "a special token that is not shown is no text";
  EXPECT_EQ(streamed(tokenizer_, {tokenizer_.id("▁▁").value(), the}, true), "  the") << "one space only";
  Detokenizer detokenizer(tokenizer_, true);
  EXPECT_EQ(detokenizer.push(begin, true).value(), "<s>");
  EXPECT_EQ(detokenizer.dropped(), 0);
  EXPECT_EQ(detokenizer.push(the, true).value(), "the");
  EXPECT_EQ(detokenizer.dropped(), 1);
}

TEST_F(SentencePieceStream, EqualsTheWholeDecode) {
  for (const auto& one : sentencepiece_golden("with_bytes")["texts"]) {
    EXPECT_EQ(streamed(tokenizer_, one["ids"], true), one["decoded"]);
  }
  for (int i = 0; i < 2000; ++i) {
    std::vector<TokenId> ids = random_ids(40);
    EXPECT_EQ(streamed(tokenizer_, ids), lossy_utf8(tokenizer_.decode(ids, true).value()));
    std::erase_if(ids, [&](TokenId id) { return tokenizer_.is_special(id); });
    EXPECT_EQ(streamed(tokenizer_, ids, true), lossy_utf8(tokenizer_.whole_text(ids).value()));
  }
}

TEST_F(SentencePieceStream, MakesOneTextOfAPromptAndItsAnswer) {
  for (const auto& one : sentencepiece_golden("with_bytes")["texts"]) {
    const std::vector<TokenId> ids = one["ids"];
    for (size_t prompt = 0; prompt <= ids.size(); ++prompt) {
      const auto cut = ids.begin() + static_cast<std::ptrdiff_t>(prompt);
      const std::vector<TokenId> before(ids.begin(), cut), answer(cut, ids.end());
      const std::string text = tokenizer_.whole_text(before).value();
      if (!whole_utf8(text)) continue;  // the answer would begin inside a character
      EXPECT_EQ(text + streamed(tokenizer_, answer, before.empty()), one["decoded"]) << one;
    }
  }
}

}  // namespace
}  // namespace slipstream
