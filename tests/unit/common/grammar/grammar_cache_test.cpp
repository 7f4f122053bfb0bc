#include "common/grammar/grammar_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/data/grammars.h"

namespace slipstream {
namespace {

GrammarText digits(size_t count) { return {GrammarForm::regex, fmt::format("[0-9]{{{}}}", count)}; }

class GrammarCacheTest : public testing::Test {
 protected:
  void forget_what_nobody_holds() {
    for (size_t count = 100; count < 100 + kGrammarsKept; ++count) EXPECT_TRUE(cache.compile(digits(count)));
  }

  GrammarCache cache{small_grammars()};
};

TEST_F(GrammarCacheTest, CompilesAGrammarOnce) {
  EXPECT_EQ(cache.compile(digits(2)).value(), cache.compile(digits(2)).value());
}

TEST_F(GrammarCacheTest, KeepsItAtItsBeginningWhateverIsWritten) {
  Grammar first = cache.compile(digits(2)).value()->begun();
  ASSERT_TRUE(first.advance(small_ids("12")));
  EXPECT_FALSE(cache.compile(digits(2)).value()->allowed_after({})->allows(kSmallEnd)) << "nothing is written yet";
  EXPECT_TRUE(first.allowed_after({})->allows(kSmallEnd));
}

TEST_F(GrammarCacheTest, CompilesWhatItForgotAgain) {
  ASSERT_TRUE(cache.compile(digits(1)));
  forget_what_nobody_holds();
  EXPECT_EQ(cache.find(digits(1)), nullptr);
  Grammar again = cache.compile(digits(1)).value()->begun();
  ASSERT_TRUE(again.advance(small_ids("7")));
  EXPECT_TRUE(again.allowed_after({})->allows(kSmallEnd));
}

// The choices of a request begin one after the other, and others may come in between.
TEST_F(GrammarCacheTest, FindsWhatSomebodyHoldsHoweverLongAgoItWasAskedFor) {
  const GrammarCache::Kept held = cache.compile(digits(1)).value();
  for (int times = 0; times < 2; ++times) {
    forget_what_nobody_holds();
    EXPECT_EQ(cache.find(digits(1)), held);
  }
}

TEST_F(GrammarCacheTest, KeepsTheLastOnesThatWereFound) {
  ASSERT_TRUE(cache.compile(digits(1)));
  for (size_t count = 100; count < 100 + 3 * kGrammarsKept; ++count) {
    EXPECT_TRUE(cache.compile(digits(count)));
    EXPECT_NE(cache.find(digits(1)), nullptr);
  }
}

TEST_F(GrammarCacheTest, KeepsNoGrammarThatCannotBeCompiled) {
  EXPECT_FALSE(cache.compile({GrammarForm::regex, "("}));
  EXPECT_FALSE(cache.compile({GrammarForm::regex, "("}));
  EXPECT_TRUE(cache.compile(digits(1)));
}

}  // namespace
}  // namespace slipstream
