#include "services/router/prefix_memory.h"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr Peer kA{1}, kB{2};

std::vector<TokenId> count_from(TokenId first, size_t tokens) {
  std::vector<TokenId> ids(tokens);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}
std::vector<uint64_t> prompt(TokenId first, size_t tokens) { return hash_prefixes(count_from(first, tokens)); }

TEST(PrefixHashes, AreOfWholeStridesOnly) {
  EXPECT_THAT(prompt(0, 31), IsEmpty());
  EXPECT_EQ(prompt(0, 32).size(), 1u);
  EXPECT_EQ(prompt(0, 100).size(), 3u);
}

TEST(PrefixHashes, CoverEverythingBeforeTheirBorder) {
  std::vector<TokenId> ids = count_from(0, 64);
  const auto before = hash_prefixes(ids);
  ids[0] = 99;
  const auto after = hash_prefixes(ids);
  EXPECT_NE(before[0], after[0]);
  EXPECT_NE(before[1], after[1]);
}

TEST(PrefixMemory, KnowsWhoComputedTheBeginningOfAPrompt) {
  PrefixMemory memory;
  memory.remember(prompt(0, 64), kA);
  EXPECT_THAT(memory.find(prompt(0, 200)), ElementsAre(Pair(kA, 64)));
  EXPECT_THAT(memory.find(prompt(0, 40)), ElementsAre(Pair(kA, 32)));
  EXPECT_THAT(memory.find(prompt(7, 64)), IsEmpty());
}

TEST(PrefixMemory, BelievesTheVerifierThatComputedAPrefixLast) {
  PrefixMemory memory;
  memory.remember(prompt(0, 96), kA);
  memory.remember(prompt(0, 32), kB);
  EXPECT_THAT(memory.find(prompt(0, 96)), ElementsAre(Pair(kA, 96), Pair(kB, 32)));
}

TEST(PrefixMemory, ForgetsAVerifierThatIsGone) {
  PrefixMemory memory;
  memory.remember(prompt(0, 64), kA);
  memory.remember(prompt(500, 64), kB);
  memory.forget(kA);
  EXPECT_THAT(memory.find(prompt(0, 64)), IsEmpty());
  EXPECT_THAT(memory.find(prompt(500, 64)), ElementsAre(Pair(kB, 64)));
  EXPECT_EQ(memory.size(), 2u);
}

TEST(PrefixMemory, ForgetsWhatWasNotMetForLongestAndThereTheLongestFirst) {
  PrefixMemory memory(4);
  memory.remember(prompt(0, 64), kA);
  memory.remember(prompt(500, 64), kA);
  memory.remember(prompt(0, 64), kA);  // met again
  memory.remember(prompt(900, 32), kB);
  EXPECT_EQ(memory.size(), 4u);
  EXPECT_THAT(memory.find(prompt(0, 64)), ElementsAre(Pair(kA, 64)));
  EXPECT_THAT(memory.find(prompt(500, 64)), ElementsAre(Pair(kA, 32)));
}

TEST(PrefixMemory, StaysWithinItsBound) {
  PrefixMemory memory(100);
  for (TokenId first = 0; first < 1000; ++first) memory.remember(prompt(first, 320), kA);
  EXPECT_EQ(memory.size(), 100u);
}

}  // namespace
}  // namespace slipstream
