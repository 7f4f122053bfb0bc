#include "common/speculation/sorted_text.h"

#include <algorithm>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/speculation/ngram_counts.h"

namespace slipstream {
namespace {

using Counts = std::map<TokenId, float>;

// A text and its index.
struct Held {
  explicit Held(std::vector<TokenId> text) : tokens(std::move(text)), order(SortedText::sort(tokens)) {}
  SortedText text() const { return {tokens, order}; }
  // The places behind this context, its newest token last.
  SortedText::Places behind(const std::vector<TokenId>& context) const {
    SortedText::Places places = text().places();
    for (size_t n = 0; n < context.size(); ++n) {
      places = text().narrow(places, static_cast<int>(n), context[context.size() - 1 - n]);
    }
    return places;
  }
  Counts counts(const std::vector<TokenId>& context) const {
    std::vector<Ranked> ranked;
    text().count(behind(context), ranked);
    Counts counts;
    for (const auto& [token, count] : ranked) counts[token] = count;
    return counts;
  }
  std::vector<TokenId> tokens;
  std::vector<uint32_t> order;
};

TEST(SortedText, FindsWhatFollowedAContext) {
  const Held held({1, 2, 3, 9, 1, 2, 4, 9, 5, 2, 3});
  EXPECT_EQ(held.counts({2}), (Counts{{3, 2}, {4, 1}}));
  EXPECT_EQ(held.counts({1, 2}), (Counts{{3, 1}, {4, 1}}));
  EXPECT_EQ(held.counts({9, 1, 2}), (Counts{{4, 1}}));
  EXPECT_EQ(held.counts({7}), Counts{});
  EXPECT_EQ(held.counts({7, 2}), Counts{});
}

TEST(SortedText, FindsNothingAcrossTheEndOfAText) {
  const Held held({1, 2, kTextEnd, 3, 2, kTextEnd});
  EXPECT_EQ(held.counts({2}), Counts{}) << "an end is never guessed";
  EXPECT_EQ(held.behind({2}).size(), 2U) << "but counts as something else that followed";
  EXPECT_EQ(held.counts({2, 3}), Counts{});
  EXPECT_TRUE(held.behind({1, 3}).empty());
}

TEST(SortedText, HoldsNothingOfAnEmptyText) {
  EXPECT_TRUE(Held({}).behind({1}).empty());
  EXPECT_TRUE(SortedText().narrow(SortedText().places(), 0, 1).empty());
  EXPECT_TRUE(Held({1}).behind({}).empty()) << "nothing stands before the only token";
}

// The claim of the header by brute force.
TEST(SortedText, EqualsASearchOfTheWholeText) {
  std::mt19937_64 dice(5);
  for (int round = 0; round < 200; ++round) {
    const uint64_t vocabulary = 1 + dice() % 6;
    std::vector<TokenId> tokens(dice() % 60);
    for (TokenId& token : tokens) token = dice() % 8 == 0 ? kTextEnd : static_cast<TokenId>(dice() % vocabulary);
    const Held held(tokens);
    std::vector<TokenId> context(1 + dice() % kNgramMax);
    for (TokenId& token : context) token = static_cast<TokenId>(dice() % vocabulary);
    std::vector<uint32_t> found(held.behind(context).begin(), held.behind(context).end()), expected;
    for (size_t at = context.size(); at < tokens.size(); ++at) {
      const auto from = tokens.begin() + static_cast<ptrdiff_t>(at - context.size());
      if (std::equal(context.begin(), context.end(), from)) expected.push_back(static_cast<uint32_t>(at));
    }
    std::ranges::sort(found);
    ASSERT_EQ(found, expected);
  }
}

TEST(SortedText, CountsSomeOfManyPlacesSpreadEvenly) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < 1000; ++i) tokens.insert(tokens.end(), {i % 4, 5, i < 750 ? 6 : 7});
  const Held held(tokens);
  std::vector<Ranked> counts;
  EXPECT_EQ(held.text().count(held.behind({5}), counts), kOccurrencesMax);
  EXPECT_NEAR(held.counts({5})[6], 0.75 * kOccurrencesMax, 4);
}

}  // namespace
}  // namespace slipstream
