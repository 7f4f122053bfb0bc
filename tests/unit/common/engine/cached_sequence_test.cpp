#include "common/engine/cached_sequence.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/engine/sequence_cache.h"
#include "tests/unit/common/sampling/adjust.h"

namespace slipstream {
namespace {

using testing::ElementsAre;

class CachedSequenceTest : public testing::Test {
 protected:
  // A pass has computed all but the root, and then the root and a tree behind it.
  CachedSequenceTest() {
    sequence.append(std::vector<TokenId>{1, 2, 3});
    EXPECT_TRUE(cache.reserve(sequence, 40, MayEvict::prefixes));
    sequence.computed(2);
  }

  SequenceCache cache{8, [](const CachedSequence&) { return nullptr; }};
  CachedSequence sequence{cache.pool(), 3};
};

TEST_F(CachedSequenceTest, WaitsForTheRowsBeforeItsRoot) {
  EXPECT_EQ(sequence.prefill_rows(), 0);
  sequence.append(std::vector<TokenId>{4, 5});
  EXPECT_EQ(sequence.root(), 4);
  EXPECT_EQ(sequence.output(), 2);
  EXPECT_EQ(sequence.prefill_rows(), 2);
}

TEST_F(CachedSequenceTest, MovesTheAcceptedRowsBehindItsContext) {
  sequence.commit(std::vector<int32_t>{2, 3}, std::vector<TokenId>{4, 5, 6});
  EXPECT_THAT(sequence.tokens(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(sequence.cached(), 5);
  const std::vector<KvMove> moves(sequence.pending_moves().begin(), sequence.pending_moves().end());
  EXPECT_THAT(moves, ElementsAre(KvMove{sequence.slot(4), sequence.slot(3)}, KvMove{sequence.slot(5), sequence.slot(4)}));
}

TEST_F(CachedSequenceTest, HasNothingInPlaceBehindTheRootUntilItsMovesAreDone) {
  sequence.commit(std::vector<int32_t>{2}, std::vector<TokenId>{4, 5});
  EXPECT_EQ(sequence.cached(), 4);
  EXPECT_EQ(sequence.in_place(), 3);
}

TEST_F(CachedSequenceTest, MovesNothingWhenThePathIsInPlaceAlready) {
  sequence.commit(std::vector<int32_t>{1, 2}, std::vector<TokenId>{4, 5, 6});
  EXPECT_TRUE(sequence.pending_moves().empty());
  EXPECT_EQ(sequence.in_place(), sequence.cached());
}

TEST_F(CachedSequenceTest, ComputesItsRootAgainForAnotherTree) {
  sequence.computed(1);
  EXPECT_EQ(sequence.prefill_rows(), -1);
  sequence.recompute_root();
  EXPECT_EQ(sequence.prefill_rows(), 0);
  EXPECT_EQ(sequence.in_place(), 2);
}

TEST_F(CachedSequenceTest, ForgetsItsPlaceInTheCacheAndKeepsItsTokens) {
  sequence.commit(std::vector<int32_t>{2}, std::vector<TokenId>{4, 5});
  sequence.forget();
  EXPECT_FALSE(sequence.holds_blocks());
  EXPECT_TRUE(sequence.pending_moves().empty());
  EXPECT_EQ(sequence.prefill_rows(), 4);
  EXPECT_EQ(sequence.size(), 5);
  EXPECT_EQ(cache.blocks_free(), 8);
}

TEST_F(CachedSequenceTest, HashesAllItsTokens) {
  PrefixHash expected;
  expected.add(std::vector<TokenId>{1, 2, 3, 4});
  sequence.commit({}, std::vector<TokenId>{4});
  EXPECT_EQ(sequence.hash().value(), expected.value());
}

// A presence penalty is for the output alone.
TEST_F(CachedSequenceTest, TellsItsLogitsProcessorWhatIsPromptAndWhatIsOutput) {
  CachedSequence penalised(cache.pool(), 3, {.presence_penalty = 1});
  penalised.append(std::vector<TokenId>{0, 1});
  penalised.append(std::vector<TokenId>{2, 3});  // the end of the prompt, and the first token behind it
  std::vector<float> logits(5, 0.0F);
  adjust(*penalised.logits_processor(), logits);
  EXPECT_THAT(logits, ElementsAre(0, 0, 0, -1, 0));
  EXPECT_EQ(sequence.logits_processor(), nullptr) << "it asks for nothing";
}

}  // namespace
}  // namespace slipstream
