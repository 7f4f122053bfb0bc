#include "tools/train/sequences.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>

#include "tests/unit/tools/train/folder.h"

namespace slipstream::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<TokenId> firsts(Sequences& sequences, int64_t from, int64_t count) {
  std::vector<TokenId> tokens;
  for (int64_t n = from; n < from + count; ++n) tokens.push_back(sequences.at(n)[0]);
  return tokens;
}

// Two shards: sequences of 3 predictions each, which begin at 0, 3, 6 of the first and at 0 of the
// second.
Sequences of_two_shards(const TestFolder& folder, uint64_t seed) {
  std::vector<TokenShard> shards;
  shards.push_back(folder.shard("a", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  shards.push_back(folder.shard("b", {20, 21, 22, 23}));
  return Sequences::cut(std::move(shards), 3, seed).value();
}

TEST(Sequences, OverlapByTheTokenThatIsPredictedAndReadAfterwards) {
  const TestFolder folder;
  std::vector<TokenShard> shards;
  shards.push_back(folder.shard("a", {0, 1, 2, 3, 4, 5, 6, 7}));
  Sequences sequences = Sequences::cut(std::move(shards), 3, 1).value();
  EXPECT_EQ(sequences.count(), 2);
  std::set<std::vector<TokenId>> seen;
  for (int64_t n = 0; n < 2; ++n) seen.insert({sequences.at(n).begin(), sequences.at(n).end()});
  EXPECT_THAT(seen, ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(3, 4, 5, 6)));
}

TEST(Sequences, ComeOnceEachInEveryEpoch) {
  const TestFolder folder;
  Sequences sequences = of_two_shards(folder, 1);
  for (int64_t epoch = 0; epoch < 20; ++epoch) {
    std::vector<TokenId> epochs = firsts(sequences, epoch * 4, 4);
    std::ranges::sort(epochs);
    EXPECT_THAT(epochs, ElementsAre(0, 3, 6, 20));
  }
}

TEST(Sequences, ComeInAnOrderThatSeedAndEpochDecide) {
  const TestFolder folder;
  Sequences once = of_two_shards(folder, 1), again = of_two_shards(folder, 1), other = of_two_shards(folder, 2);
  const auto order = firsts(once, 0, 40);
  EXPECT_EQ(order, firsts(again, 0, 40));
  EXPECT_NE(order, firsts(other, 0, 40));
  EXPECT_NE(std::vector(order.begin(), order.begin() + 20), std::vector(order.begin() + 20, order.end()));
}

TEST(Sequences, GoOnAtAnyPlaceWithoutThoseBefore) {
  const TestFolder folder;
  Sequences from_the_start = of_two_shards(folder, 1), from_the_middle = of_two_shards(folder, 1);
  const auto order = firsts(from_the_start, 0, 40);
  EXPECT_EQ(firsts(from_the_middle, 27, 13), std::vector(order.begin() + 27, order.end()));
}

TEST(Sequences, RefuseShardsThatAreTooShortForOne) {
  const TestFolder folder;
  std::vector<TokenShard> shards;
  shards.push_back(folder.shard("a", {0, 1, 2}));
  EXPECT_THAT(Sequences::cut(std::move(shards), 3, 1).error().message,
              HasSubstr("no shard has 4 tokens, which make one sequence: add text, or lower --length"));
}

}  // namespace
}  // namespace slipstream::train
