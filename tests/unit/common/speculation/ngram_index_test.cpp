#include "common/speculation/ngram_index.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

NgramIndex index_of(const std::vector<TokenId>& tokens) {
  NgramIndex index;
  index.append(tokens);
  return index;
}

TEST(NgramIndex, FindsNothingInAShortOrFreshSequence) {
  EXPECT_EQ(NgramIndex().match(4).length, 0);
  EXPECT_EQ(index_of({1}).match(4).length, 0);
  EXPECT_EQ(index_of({1, 1}).match(4).length, 0);
  EXPECT_EQ(index_of({1, 2, 3, 4, 5}).match(4).length, 0);
}

TEST(NgramIndex, ContinuesTheEarlierOccurrence) {
  const auto match = index_of({1, 2, 3, 4, 5, 9, 1, 2}).match(3);
  EXPECT_EQ(match.length, 2);
  EXPECT_THAT(match.following, ElementsAre(3, 4, 5));
}

TEST(NgramIndex, PrefersTheLongestMatch) {
  const auto match = index_of({7, 1, 2, 50, 0, 1, 2, 60, 0, 7, 1, 2}).match(1);
  EXPECT_EQ(match.length, 3);
  EXPECT_THAT(match.following, ElementsAre(50));
}

TEST(NgramIndex, PrefersTheLatestOfEqualMatches) {
  EXPECT_THAT(index_of({1, 2, 50, 0, 1, 2, 60, 9, 1, 2}).match(1).following, ElementsAre(60));
}

TEST(NgramIndex, ContinuesARepetitionBeyondTheEnd) {
  const auto match = index_of({1, 2, 1, 2, 1, 2}).match(7);
  EXPECT_THAT(match.following, ElementsAre(1, 2, 1, 2, 1, 2, 1));
  EXPECT_THAT(index_of({4, 4, 4}).match(3).following, ElementsAre(4, 4, 4));
}

TEST(NgramIndex, GivesNoTokensWhenNoneAreWanted) { EXPECT_THAT(index_of({1, 2, 1, 2}).match(0).following, IsEmpty()); }

// The claim of the header by brute force, token by token, in chunks of any size.
TEST(NgramIndex, EqualsASearchOfTheWholeSequence) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 40; ++round) {
    NgramIndex index;
    std::vector<TokenId> tokens;
    const uint64_t vocabulary = 2 + random() % 12;
    while (tokens.size() < 400) {
      std::vector<TokenId> chunk(random() % 4);
      for (TokenId& token : chunk) token = static_cast<TokenId>(random() % vocabulary);
      tokens.insert(tokens.end(), chunk.begin(), chunk.end());
      index.append(chunk);
      NgramIndex::Match expected;
      const auto size = static_cast<int>(tokens.size());
      for (int length = std::min(kNgramMax, size); length >= kNgramMin && expected.length == 0; --length) {
        for (int end = size - 1; end >= length && expected.length == 0; --end) {
          if (!std::equal(tokens.end() - length, tokens.end(), tokens.begin() + end - length)) continue;
          expected.length = length;
          std::vector<TokenId> copy = tokens;
          for (int i = 0; i < 6; ++i) copy.push_back(copy[end + i]);
          expected.following.assign(copy.begin() + size, copy.end());
        }
      }
      const auto match = index.match(6);
      ASSERT_EQ(match.length, expected.length);
      ASSERT_EQ(match.following, expected.following);
    }
    EXPECT_TRUE(std::ranges::equal(index.tokens(), tokens));
  }
}

}  // namespace
}  // namespace slipstream
