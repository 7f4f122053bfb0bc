#include "common/grammar/grammar_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/data/grammars.h"

namespace slipstream {
namespace {

GrammarText digits(size_t count) { return {GrammarForm::regex, fmt::format("[0-9]{{{}}}", count)}; }

TEST(GrammarCacheTest, GivesEachCallerATextOfItsOwn) {
  GrammarCache cache(small_grammars());
  Grammar first = cache.compile(digits(2)).value();
  ASSERT_TRUE(first.advance(small_ids("12")));
  Grammar second = cache.compile(digits(2)).value();
  EXPECT_FALSE(second.allowed_after({})->allows(kSmallEnd)) << "nothing is written yet";
  EXPECT_TRUE(first.allowed_after({})->allows(kSmallEnd));
}

TEST(GrammarCacheTest, CompilesWhatItForgotAgain) {
  GrammarCache cache(small_grammars());
  for (size_t count = 1; count <= 2 * kGrammarsKept; ++count) EXPECT_TRUE(cache.compile(digits(count)));
  Grammar again = cache.compile(digits(1)).value();
  ASSERT_TRUE(again.advance(small_ids("7")));
  EXPECT_TRUE(again.allowed_after({})->allows(kSmallEnd));
}

TEST(GrammarCacheTest, KeepsNoGrammarThatCannotBeCompiled) {
  GrammarCache cache(small_grammars());
  EXPECT_FALSE(cache.compile({GrammarForm::regex, "("}));
  EXPECT_FALSE(cache.compile({GrammarForm::regex, "("}));
  EXPECT_TRUE(cache.compile(digits(1)));
}

}  // namespace
}  // namespace slipstream
