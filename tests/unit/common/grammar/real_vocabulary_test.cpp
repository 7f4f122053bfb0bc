// With the tokenizer of the demo's model, whose tokens join several marks of JSON.
#include <filesystem>

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

}  // namespace
}  // namespace slipstream
