#include "common/engine/sequence_cache.h"

#include <deque>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/engine/pass.h"

namespace slipstream {
namespace {

constexpr int32_t kBlocks = 4;

class SequenceCacheTest : public testing::Test {
 protected:
  CachedSequence& sequence(int32_t tokens, TokenId token = 1, TenantId tenant = kNoTenant) {
    CachedSequence& made = sequences.emplace_back(cache.pool(), tokens, LogitsParams{}, tenant);
    made.append(std::vector<TokenId>(static_cast<size_t>(tokens), token));
    return made;
  }
  // All of its context and its root.
  void compute(CachedSequence& sequence) {
    ASSERT_TRUE(cache.reserve(sequence, sequence.size(), MayEvict::prefixes));
    sequence.computed(sequence.size() - sequence.cached());
  }

  CachedSequence* victim = nullptr;
  SequenceCache cache{kBlocks, [this](const CachedSequence& needy) { return &needy == victim ? nullptr : victim; }};
  std::deque<CachedSequence> sequences;
};

TEST_F(SequenceCacheTest, GivesASequenceTheWholeBlocksOfAnotherThatBeganAlike) {
  CachedSequence& first = sequence(70);
  compute(first);
  cache.keep(first);
  CachedSequence& second = sequence(70);
  EXPECT_EQ(cache.adopt(second), 64);
  EXPECT_EQ(second.prefill_rows(), 70 - 1 - 64);
  EXPECT_EQ(second.blocks()[1], first.blocks()[1]);
  EXPECT_EQ(cache.adopt(sequence(70, 2)), 0) << "other tokens";
}

TEST_F(SequenceCacheTest, GivesNothingOfOneTenantToAnotherEvenIfItWasPreempted) {
  CachedSequence& first = sequence(70, 1, 7);
  compute(first);
  cache.keep(first);
  EXPECT_EQ(cache.adopt(sequence(70, 1, 8)), 0);
  CachedSequence& second = sequence(70, 1, 7);
  EXPECT_EQ(cache.adopt(second), 64);
  second.forget();
  EXPECT_EQ(cache.adopt(second), 64) << "it is still the same tenant's";
}

TEST_F(SequenceCacheTest, LeavesTheRootToBeComputed) {
  CachedSequence& first = sequence(64);
  compute(first);
  cache.keep(first);
  EXPECT_EQ(cache.blocks_kept(), 2);
  CachedSequence& second = sequence(64);
  EXPECT_EQ(cache.adopt(second), 32);
}

TEST_F(SequenceCacheTest, KeepsNoRowThatIsYetToBeMoved) {
  CachedSequence& one = sequence(31);
  compute(one);
  ASSERT_TRUE(cache.reserve(one, 40, MayEvict::prefixes));
  one.commit(std::vector<int32_t>{2}, std::vector<TokenId>{5, 6});  // row 2 belongs to position 31
  cache.keep(one);
  EXPECT_EQ(cache.blocks_kept(), 0);
  StepPlan plan;
  plan.blocks_max = kBlocks;
  one.computed(Pass(plan).add_context(one, 0).context_rows);
  cache.keep(one);
  EXPECT_EQ(cache.blocks_kept(), 1);
}

TEST_F(SequenceCacheTest, MakesRoomFromKeptPrefixesBeforeItEvictsASequence) {
  CachedSequence& ended = sequence(64);
  compute(ended);
  cache.keep(ended);
  ended.forget();  // its blocks are kept
  CachedSequence& holds = sequence(32, 2);
  compute(holds);
  victim = &holds;
  EXPECT_TRUE(cache.reserve(sequence(96, 3), 96, MayEvict::sequences));
  EXPECT_EQ(cache.prefixes_evicted(), 2u);
  EXPECT_EQ(cache.sequences_evicted(), 0u);
  EXPECT_TRUE(holds.holds_blocks());
}

TEST_F(SequenceCacheTest, EvictsTheSequenceThatItsOwnerNames) {
  CachedSequence& holds = sequence(96, 2);
  compute(holds);
  victim = &holds;
  CachedSequence& needy = sequence(64, 3);
  EXPECT_FALSE(cache.reserve(needy, 64, MayEvict::prefixes)) << "no sequence may be evicted for it";
  EXPECT_TRUE(cache.reserve(needy, 64, MayEvict::sequences));
  EXPECT_EQ(cache.sequences_evicted(), 1u);
  EXPECT_EQ(holds.prefill_rows(), 95) << "to be computed again";
}

TEST_F(SequenceCacheTest, HasNoRoomWhenItsOwnerNamesNobody) {
  compute(sequence(96, 2));
  CachedSequence& needy = sequence(64, 3);
  EXPECT_FALSE(cache.reserve(needy, 64, MayEvict::sequences));
  EXPECT_FALSE(needy.holds_blocks());
}

}  // namespace
}  // namespace slipstream
