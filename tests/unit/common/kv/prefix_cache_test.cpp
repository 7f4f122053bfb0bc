#include "common/kv/prefix_cache.h"

#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kv/block_table.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Place = PrefixCache::Place;

// 32 tokens a letter.
std::vector<TokenId> text(std::string_view letters) {
  std::vector<TokenId> tokens;
  for (const char letter : letters) tokens.insert(tokens.end(), kBlockTokens, letter);
  return tokens;
}

class PrefixCacheTest : public testing::Test {
 protected:
  // As a sequence does that computes all of this and ends.
  void compute(std::string_view letters, TenantId tenant = kNoTenant) {
    BlockTable table(pool);
    Place place(tenant);
    const auto tokens = text(letters);
    cache.attach(table, tokens, place);
    ASSERT_TRUE(table.reserve(static_cast<int32_t>(tokens.size())));
    cache.keep_all(table, tokens, static_cast<int32_t>(tokens.size()), place);
  }
  std::vector<int32_t> find(std::string_view letters, TenantId tenant = kNoTenant) {  // and holds none of them
    Place place(tenant);
    const auto blocks = cache.find(text(letters), place);
    for (const int32_t block : blocks) pool.give(block);
    return blocks;
  }

  BlockPool pool{8};
  PrefixCache cache{pool};
};

TEST_F(PrefixCacheTest, FindsTheLongestBeginningThatWasComputed) {
  compute("abc");
  EXPECT_THAT(find("abc"), ElementsAre(0, 1, 2));
  EXPECT_THAT(find("abd"), ElementsAre(0, 1));
  EXPECT_THAT(find("bc"), IsEmpty()) << "the same tokens elsewhere are other keys and values";
  auto half = text("ab");
  half.resize(kBlockTokens + kBlockTokens / 2);
  Place place;
  EXPECT_THAT(cache.find(half, place), ElementsAre(0)) << "whole blocks only";
  EXPECT_EQ(place.blocks(), 1);
}

TEST_F(PrefixCacheTest, OneTenantFindsNothingOfAnother) {
  compute("ab", 7);
  EXPECT_THAT(find("ab"), IsEmpty());
  EXPECT_THAT(find("ab", 8), IsEmpty());
  compute("abc", 8);
  EXPECT_THAT(find("abc", 7), ElementsAre(0, 1)) << "its own, and no further";
  EXPECT_THAT(find("abc", 8), ElementsAre(2, 3, 4));
}

TEST_F(PrefixCacheTest, KeepsItsBlocksWhenTheirSequenceEnds) {
  compute("ab");
  EXPECT_EQ(pool.free(), 6);
  EXPECT_EQ(cache.blocks(), 2);
}

TEST_F(PrefixCacheTest, TwoThatComputedTheSameEndUpWithOneCopy) {
  BlockTable first(pool), second(pool);
  Place one, other;
  const auto tokens = text("ab");
  ASSERT_TRUE(first.reserve(2 * kBlockTokens) && second.reserve(2 * kBlockTokens));
  cache.keep_all(first, tokens, 2 * kBlockTokens, one);
  EXPECT_EQ(pool.free(), 4);
  cache.keep_all(second, tokens, 2 * kBlockTokens, other);
  EXPECT_EQ(pool.free(), 6);
  EXPECT_THAT(second.blocks(), ElementsAre(0, 1));
  first.shrink(0);
  second.shrink(0);
  EXPECT_THAT(find("ab"), ElementsAre(0, 1));
}

TEST_F(PrefixCacheTest, KeepsNoBlockThatIsNotWhole) {
  BlockTable table(pool);
  Place place;
  const auto tokens = text("ab");
  EXPECT_EQ(cache.attach(table, tokens, place), 0);
  ASSERT_TRUE(table.reserve(2 * kBlockTokens));
  cache.keep_all(table, tokens, 2 * kBlockTokens - 1, place);
  EXPECT_EQ(cache.blocks(), 1);
  cache.keep_all(table, tokens, 2 * kBlockTokens, place);
  EXPECT_EQ(cache.blocks(), 2);
  BlockTable again(pool);
  Place there;
  EXPECT_EQ(cache.attach(again, tokens, there), 2 * kBlockTokens);
}

TEST_F(PrefixCacheTest, EvictsWhatWasUsedLongestAgoAndChildrenFirst) {
  compute("ab");
  compute("cd");
  compute("a");
  ASSERT_TRUE(cache.evict());
  EXPECT_THAT(find("ab"), ElementsAre(0)) << "b was used longest ago";
  ASSERT_TRUE(cache.evict());
  EXPECT_THAT(find("cd"), ElementsAre(2)) << "d before c, which it follows";
  while (cache.evict()) {
  }
  EXPECT_EQ(pool.free(), 8);
  EXPECT_EQ(cache.blocks(), 0);
}

TEST_F(PrefixCacheTest, EvictsNothingThatASequenceHolds) {
  compute("abc");
  BlockTable table(pool);
  Place place;
  table.adopt(cache.find(text("ab"), place));
  EXPECT_TRUE(cache.evict());
  EXPECT_FALSE(cache.evict());
  EXPECT_EQ(cache.blocks(), 2);
  table.shrink(0);
  EXPECT_TRUE(cache.evict());
}

TEST_F(PrefixCacheTest, GivesAllBackWhenItDies) {
  {
    PrefixCache brief(pool);
    Place place;
    const int32_t block = *pool.take();
    brief.keep(place, text("a"), block);
    pool.give(block);
    EXPECT_EQ(pool.free(), 7);
  }
  EXPECT_EQ(pool.free(), 8);
}

// Whatever sequences come and go: a block that is found holds the tokens that were looked for, and
// none is lost.
TEST(PrefixCacheSoak, EveryBlockFoundHoldsWhatWasComputedThere) {
  std::mt19937_64 random(1);
  BlockPool pool(24);
  PrefixCache cache(pool);
  std::map<int32_t, std::vector<TokenId>> content;  // by block: all tokens up to its end
  struct Sequence {
    explicit Sequence(BlockPool& from) : table(from) {}
    BlockTable table;
    Place place;
    std::vector<TokenId> tokens;
  };
  std::vector<Sequence> live;
  size_t found = 0, evicted = 0;
  const auto prefix = [](const Sequence& of, size_t blocks) {
    return std::vector<TokenId>(of.tokens.begin(), of.tokens.begin() + static_cast<std::ptrdiff_t>(blocks * kBlockTokens));
  };
  for (int i = 0; i < 20'000; ++i) {
    if (live.size() < 4 && random() % 2 == 0) {
      Sequence& begun = live.emplace_back(pool);
      std::string letters;
      for (size_t length = 1 + random() % 5; length > 0; --length) letters += static_cast<char>('a' + random() % 3);
      begun.tokens = text(letters);
      begun.table.adopt(cache.find(begun.tokens, begun.place));
      const auto blocks = begun.table.blocks();
      for (size_t at = 0; at < blocks.size(); ++at) ASSERT_EQ(content.at(blocks[at]), prefix(begun, at + 1));
      found += blocks.size();
      while (!begun.table.reserve(static_cast<int32_t>(begun.tokens.size()))) {
        ASSERT_TRUE(cache.evict());
        ++evicted;
      }
    } else if (!live.empty()) {
      const size_t which = random() % live.size();
      Sequence& one = live[which];
      const auto at = static_cast<size_t>(one.place.blocks());
      if (at * kBlockTokens == one.tokens.size()) {
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
        continue;
      }
      const int32_t own = one.table.blocks()[at];
      content[own] = prefix(one, at + 1);
      const int32_t block = cache.keep(one.place, std::span(one.tokens).subspan(at * kBlockTokens, kBlockTokens), own);
      ASSERT_EQ(content.at(block), prefix(one, at + 1));
      if (block != own) one.table.replace(at, block);
    }
  }
  EXPECT_GT(found, 1000U);
  EXPECT_GT(evicted, 1000U);
  live.clear();
  EXPECT_EQ(pool.free() + cache.blocks(), pool.blocks());
}

}  // namespace
}  // namespace slipstream
