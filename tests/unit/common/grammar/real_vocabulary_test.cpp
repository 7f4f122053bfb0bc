// With the tokenizer of the demo's model, whose tokens join several marks of JSON.
#include <filesystem>
#include <random>
#include <span>

#include <gtest/gtest.h>

#include "common/grammar/grammar.h"
#include "common/model_text/read_tokenizer.h"

namespace slipstream {
namespace {

const std::filesystem::path kRealGguf = SLIPSTREAM_REAL_MODEL ".gguf";

// Going along the draft and back on one state (llguidance's rollback) allowed more tokens here
// afterwards.
TEST(GrammarOfTheDemosModel, AllowsTheSameAfterADraftThatWentAnotherWay) {
  if (!std::filesystem::exists(kRealGguf))
    GTEST_SKIP() << "no " << kRealGguf << " here: run the set-up to test the real file too";
  const Tokenizer tokenizer = read_tokenizer(kRealGguf).value();
  const auto ids = [&](std::string_view text) { return tokenizer.encode(text, false).value(); };
  const Grammars grammars = Grammars::make(tokenizer, std::vector<TokenId>{0, 2}, tokenizer.vocabulary()).value();
  Grammar asked = grammars.compile({GrammarForm::json_schema, R"({"type":"object"})"}).value();
  Grammar fresh = asked.begun();
  for (Grammar* grammar : {&asked, &fresh}) ASSERT_TRUE(grammar->advance(ids(R"({"tags": [], "[;":)")));
  ASSERT_TRUE(asked.allowed_after(ids(R"( ["#*Fitical1)")));
  for (Grammar* grammar : {&asked, &fresh}) ASSERT_TRUE(grammar->advance(ids(R"( {"].<3 memor)")));
  EXPECT_EQ(asked.allowed_after({})->tokens(), fresh.allowed_after({})->tokens());
}

// Copies of a state share the lexer's states, and all of them fail where one has found the grammar
// too complex.
TEST(GrammarOfTheDemosModel, FailsNoTextForWhatADraftOrAnotherTextCouldNotFollow) {
  if (!std::filesystem::exists(kRealGguf))
    GTEST_SKIP() << "no " << kRealGguf << " here: run the set-up to test the real file too";
  const Tokenizer tokenizer = read_tokenizer(kRealGguf).value();
  const Grammars grammars = Grammars::make(tokenizer, std::vector<TokenId>{0, 2}, tokenizer.vocabulary()).value();
  const Grammar kept = grammars.compile({GrammarForm::regex, "([a-z]{1,40}[0-9]?){1,40}"}).value();
  Grammar drafted = kept.begun(), other = kept.begun();
  // The text that fails first among some at random.
  std::mt19937 random(1);
  std::vector<TokenId> path;
  bool fails = false;
  for (int walk = 0; walk < 50 && !fails; ++walk) {
    path.clear();
    while (path.size() < 20 && !fails) {
      const auto mask = drafted.allowed_after(path);
      fails = !mask;
      if (fails) break;
      const std::vector<TokenId> allowed = mask->tokens();  // those that end it come first
      path.push_back(allowed[2 + random() % (allowed.size() - 2)]);
    }
  }
  ASSERT_TRUE(fails) << "it is nowhere too complex";
  Grammar later = kept.begun();
  for (Grammar* text : {&drafted, &other, &later}) {
    ASSERT_TRUE(text->advance(std::span(path).first(1)));
    EXPECT_TRUE(text->allowed_after({}));
  }
}

}  // namespace
}  // namespace slipstream
