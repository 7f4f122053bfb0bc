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
  EXPECT_FALSE(cache.find(digits(1)));
  Grammar again = cache.compile(digits(1)).value()->begun();
  ASSERT_TRUE(again.advance(small_ids("7")));
  EXPECT_TRUE(again.allowed_after({})->allows(kSmallEnd));
}

// The choices of a request begin one after the other, and others may come in between.
TEST_F(GrammarCacheTest, FindsWhatSomebodyHoldsHoweverLongAgoItWasAskedFor) {
  const GrammarCache::Kept held = cache.compile(digits(1)).value();
  for (int times = 0; times < 2; ++times) {
    forget_what_nobody_holds();
    EXPECT_EQ(cache.find(digits(1)).value(), held);
  }
}

TEST_F(GrammarCacheTest, KeepsTheLastOnesThatWereFound) {
  ASSERT_TRUE(cache.compile(digits(1)));
  for (size_t count = 100; count < 100 + 3 * kGrammarsKept; ++count) {
    EXPECT_TRUE(cache.compile(digits(count)));
    EXPECT_TRUE(cache.find(digits(1)));
  }
}

GrammarText broken(size_t bytes) { return {GrammarForm::regex, std::string(bytes, '(')}; }

TEST_F(GrammarCacheTest, KeepsWhyAGrammarCannotBeCompiled) {
  const auto refused = cache.compile(broken(1));
  ASSERT_FALSE(refused);
  const auto kept = cache.find(broken(1));
  ASSERT_TRUE(kept);
  ASSERT_FALSE(*kept);
  EXPECT_EQ(kept->error().message, refused.error().message);
  EXPECT_EQ(cache.why_not(broken(1))->message, refused.error().message);
  EXPECT_TRUE(cache.compile(digits(1)));
}

TEST_F(GrammarCacheTest, SaysThatAGrammarCanBeFollowedAndKeepsNone) {
  EXPECT_FALSE(cache.why_not(digits(1)));
  EXPECT_FALSE(cache.find(digits(1)));
}

TEST_F(GrammarCacheTest, KeepsTheLastRefusalsThatWereFound) {
  for (size_t bytes = 1; bytes <= 3 * kRefusalsKept; ++bytes) {
    cache.keep(broken(bytes), std::unexpected(GrammarError{{"it is wrong"}, true}));
    EXPECT_TRUE(cache.find(broken(1)));
  }
  EXPECT_TRUE(cache.find(broken(3 * kRefusalsKept)));
  EXPECT_FALSE(cache.find(broken(2 * kRefusalsKept)));
}

TEST_F(GrammarCacheTest, KeepsRefusalsOfFewBytes) {
  const size_t large = kRefusalBytesKept / 4;
  for (size_t more = 0; more < 4; ++more)
    cache.keep(broken(large + more), std::unexpected(GrammarError{{"it is wrong"}, true}));
  EXPECT_FALSE(cache.find(broken(large)));
  for (size_t more = 1; more < 4; ++more) EXPECT_TRUE(cache.find(broken(large + more)));
  cache.keep(broken(kRefusalBytesKept), std::unexpected(GrammarError{{"it is wrong"}, true}));
  EXPECT_FALSE(cache.find(broken(kRefusalBytesKept)));
}

TEST_F(GrammarCacheTest, KeepsNoErrorOfTheMachine) {
  cache.keep(digits(1), std::unexpected(GrammarError{{"no thread is left"}, false}));
  EXPECT_FALSE(cache.find(digits(1)));
  EXPECT_TRUE(cache.compile(digits(1)));
}

}  // namespace
}  // namespace slipstream
