#include "common/kv/block_table.h"

#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(BlockTable, ReservesWholeBlocks) {
  BlockPool pool(4);
  BlockTable table(pool);
  EXPECT_TRUE(table.reserve(1));
  EXPECT_EQ(pool.free(), 3);
  EXPECT_TRUE(table.reserve(kBlockTokens));
  EXPECT_EQ(pool.free(), 3);
  EXPECT_TRUE(table.reserve(kBlockTokens + 1));
  EXPECT_EQ(pool.free(), 2);
  EXPECT_THAT(table.blocks(), testing::ElementsAre(0, 1));
}

TEST(BlockTable, TakesNothingWhenThePoolHasTooFew) {
  BlockPool pool(2);
  BlockTable table(pool);
  EXPECT_TRUE(table.reserve(5));
  EXPECT_FALSE(table.reserve(3 * kBlockTokens));
  EXPECT_EQ(pool.free(), 1);
  EXPECT_EQ(table.blocks().size(), 1u);
}

TEST(BlockTable, MapsPositionsToSlotsOfItsBlocks) {
  BlockPool pool(4);
  BlockTable other(pool), table(pool);
  ASSERT_TRUE(other.reserve(1));
  ASSERT_TRUE(table.reserve(2 * kBlockTokens));
  EXPECT_EQ(table.slot(0), kBlockTokens);
  EXPECT_EQ(table.slot(kBlockTokens + 3), 2 * kBlockTokens + 3);
}

TEST(BlockTable, GivesBackWhatLiesBehind) {
  BlockPool pool(4);
  BlockTable table(pool);
  ASSERT_TRUE(table.reserve(4 * kBlockTokens));
  table.shrink(kBlockTokens + 1);
  EXPECT_EQ(pool.free(), 2);
  table.shrink(kBlockTokens);
  EXPECT_EQ(pool.free(), 3);
  table.shrink(0);
  EXPECT_EQ(pool.free(), 4);
}

TEST(BlockTable, GivesAllBackWhenItDiesAndOnceWhenMoved) {
  BlockPool pool(4);
  {
    BlockTable table(pool);
    ASSERT_TRUE(table.reserve(40));
    BlockTable moved(std::move(table));
    EXPECT_EQ(pool.free(), 2);
    BlockTable assigned(pool);
    ASSERT_TRUE(assigned.reserve(1));
    assigned = std::move(moved);
    EXPECT_EQ(assigned.blocks().size(), 2u);
  }
  EXPECT_EQ(pool.free(), 4);
}

TEST(BlockTable, MovesNothingForAPathThatLiesInPlace) {
  BlockPool pool(2);
  BlockTable table(pool);
  ASSERT_TRUE(table.reserve(64));
  std::vector<KvMove> moves;
  table.commit(10, std::vector{1, 2, 3}, moves);
  EXPECT_TRUE(moves.empty());
}

TEST(BlockTable, MovesAPathBehindTheContext) {
  BlockPool pool(2);
  BlockTable table(pool);
  ASSERT_TRUE(table.reserve(64));
  std::vector<KvMove> moves;
  table.commit(30, std::vector{1, 4, 6}, moves);
  EXPECT_THAT(moves, testing::ElementsAre(KvMove{34, 32}, KvMove{36, 33}));
}

// Whatever the path: moves done in order leave each of its rows where it belongs, none overwritten
// before it was moved.
TEST(BlockTable, NeverOverwritesARowThatIsStillToBeMoved) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    BlockPool pool(6);
    BlockTable table(pool);
    const auto committed = static_cast<int32_t>(random() % 64);
    ASSERT_TRUE(table.reserve(committed + 64));
    std::vector<int32_t> path;
    for (int32_t row = 1; row < 64; ++row) {
      if (random() % 3 == 0) path.push_back(row);
    }
    std::map<int32_t, int32_t> cache;  // slot -> the tree row it holds
    for (int32_t row = 0; row < 64; ++row) cache[table.slot(committed + row)] = row;
    std::vector<KvMove> moves;
    table.commit(committed, path, moves);
    for (const KvMove& move : moves) cache[move.to] = cache[move.from];
    EXPECT_EQ(cache[table.slot(committed)], 0);
    for (size_t i = 0; i < path.size(); ++i) {
      ASSERT_EQ(cache[table.slot(committed + 1 + static_cast<int32_t>(i))], path[i]);
    }
  }
}

TEST(BlockTableDeathTest, AbortsOnAPathThatDoesNotAscend) {
  BlockPool pool(2);
  BlockTable table(pool);
  ASSERT_TRUE(table.reserve(64));
  std::vector<KvMove> moves;
  EXPECT_DEATH(table.commit(0, std::vector{2, 2}, moves), "row 2 after row 2");
}

}  // namespace
}  // namespace slipstream
