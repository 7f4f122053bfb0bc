// Grammars over a SentencePiece vocabulary, whose tokens of bytes and spaces are spelled otherwise.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/grammar/grammar.h"
#include "tests/data/own_path.h"
#include "tests/data/sentencepiece_gguf.h"

namespace slipstream {
namespace {

class SentencePieceGrammar : public testing::Test {
 protected:
  Grammar grammar(GrammarForm form, const std::string& text) const { return grammars_.compile({form, text}).value(); }
  TokenId id(const char* token) const { return tokenizer_.id(token).value(); }

  const Tokenizer tokenizer_ = sentencepiece_tokenizer("with_bytes", own_path("words.gguf"));
  const Grammars grammars_ = Grammars::make(tokenizer_, std::vector<TokenId>{2}, tokenizer_.vocabulary()).value();
};

TEST_F(SentencePieceGrammar, KnowsTheBytesOfItsTokens) {
  EXPECT_THAT(grammar(GrammarForm::regex, "\\n").allowed_after({})->tokens(), testing::ElementsAre(id("<0x0A>")));
  const TokenMask spaces = grammar(GrammarForm::regex, " the| x").allowed_after({}).value();
  for (const char* begins : {"▁", "▁t", "▁the", "<0x20>"}) EXPECT_TRUE(spaces.allows(id(begins))) << begins;
  for (const char* other : {"he", "t", "▁▁", "<0x0A>", "<unk>", "<s>", "</s>"}) EXPECT_FALSE(spaces.allows(id(other))) << other;
}

TEST_F(SentencePieceGrammar, WritesACharacterThatIsNoTokenInBytes) {
  Grammar emoji = grammar(GrammarForm::regex, "😀!");
  for (const char* byte : {"<0xF0>", "<0x9F>", "<0x98>", "<0x80>"}) {
    EXPECT_THAT(emoji.allowed_after({})->tokens(), testing::ElementsAre(id(byte)));
    ASSERT_TRUE(emoji.advance(std::vector{id(byte)}));
  }
  ASSERT_TRUE(emoji.advance(tokenizer_.encode_inside("!").value()));
  EXPECT_THAT(emoji.allowed_after({})->tokens(), testing::ElementsAre(2));
}

// The tokens of the middle of a text: without a space before them that no grammar describes.
TEST_F(SentencePieceGrammar, LeavesTheTokenizersOwnTokensWhereOneTextIsLeft) {
  const std::string text = R"({"name": "the words of the answer", "old": true})";
  Grammar one = grammar(GrammarForm::json_schema, R"({"const": {"name": "the words of the answer", "old": true}})");
  const std::vector<TokenId> written = tokenizer_.encode_inside(text).value();
  std::vector<TokenId> path;
  // The last pieces of a forced text may be the beginnings of longer tokens.
  while (path.size() + 3 < written.size()) {
    EXPECT_THAT(one.allowed_after(path)->tokens(), testing::ElementsAre(written[path.size()])) << path.size();
    path.push_back(written[path.size()]);
  }
}

}  // namespace
}  // namespace slipstream
