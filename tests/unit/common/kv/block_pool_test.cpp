#include "common/kv/block_pool.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(BlockPool, GivesTheLowestFreeBlockFirst) {
  BlockPool pool(3);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), 1);
  pool.give(0);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), 2);
}

TEST(BlockPool, SaysWhenItIsEmpty) {
  BlockPool pool(1);
  EXPECT_EQ(pool.free(), 1);
  pool.take();
  EXPECT_EQ(pool.free(), 0);
  EXPECT_EQ(pool.take(), std::nullopt);
}

TEST(BlockPoolDeathTest, AbortsOnABlockGivenTwice) {
  BlockPool pool(2);
  EXPECT_DEATH(pool.give(1), "free already");
  EXPECT_DEATH(pool.give(2), "none of the 2");
}

}  // namespace
}  // namespace slipstream
