#include "services/verifier/gather.h"

#include <deque>

#include <gtest/gtest.h>

#include "tests/unit/services/verifier/costs.h"

namespace slipstream {
namespace {

class GatherTest : public testing::Test {
 protected:
  VerifierSequence& sequence(int tokens, int cached, std::vector<TreeNode> nodes = {}, Rule rule = Rule::greedy) {
    VerifierSequence& made = sequences.emplace_back(SequenceIdentity{.number = sequences.size()},
                                                    GenerationSpec{.prompt_length = tokens, .acceptance = {.rule = rule}},
                                                    CachedSequence(cache.pool(), tokens), fates);
    made.context.append(std::vector<TokenId>(static_cast<size_t>(tokens), 1));
    made.drafting.draft_nodes_max = 60;
    made.drafting.draft.nodes_asked = 60;
    const TokenTree tree = *TokenTree::make(std::move(nodes), 100);
    made.drafting.draft.tree = is_sampled(rule) ? DraftTree::certain(tree) : DraftTree(tree);
    made.drafting.draft.kinds.assign(static_cast<size_t>(tree.size()), 0);
    made.fates.arrive(0, made.drafting.draft.kinds.size());
    EXPECT_TRUE(cache.reserve(made.context, cached, MayEvict::prefixes));
    made.context.computed(cached);
    ready.push_back(&made);
    return made;
  }
  static std::vector<TreeNode> chain(int nodes) {
    std::vector<TreeNode> chain;
    for (int i = 0; i < nodes; ++i) chain.push_back({2, i - 1, 1.0F});
    return chain;
  }
  std::vector<BatchSlice> gathered() {
    return gather(ready, {.cost = cost, .rows_max = rows_max, .blocks_max = 10, .context_max = 300}, cache, verify);
  }
  // Somebody else takes all blocks but so many.
  void leave_blocks(int32_t blocks) {
    others = BlockTable(cache.pool());
    ASSERT_TRUE(others.reserve((cache.blocks_free() - blocks) * kBlockTokens));
  }

  NodeFates fates;
  SequenceCache cache{32, [](const CachedSequence&) { return nullptr; }};
  BlockTable others{cache.pool()};
  std::deque<VerifierSequence> sequences;
  std::vector<VerifierSequence*> ready;
  VerifyPlan verify;
  StepPlan& plan = verify.step;
  int rows_max = 64;
  CostModel cost = even_cost(0.008);
};

TEST_F(GatherTest, GivesEveryDecodingSequenceItsRoot) {
  sequence(10, 9, chain(30));
  sequence(20, 19, chain(30));
  const auto slices = gathered();
  EXPECT_EQ(plan.rows(), 2 + 30 + 30);
  EXPECT_EQ(slices[1].rows.first_wanted, 31);
  EXPECT_EQ(plan.position[31], 19);
  EXPECT_EQ(plan.visible[32], 19);
  EXPECT_EQ(plan.ancestors[33], 0b111U);
}

TEST_F(GatherTest, KeepsRowsForAWaitingPrompt) {
  sequence(10, 9, chain(30));
  sequence(200, 0);
  const auto slices = gathered();
  EXPECT_EQ(slices[0].tree.size(), 30);
  EXPECT_EQ(slices[1].rows.context_rows, 64 - 31);
  EXPECT_FALSE(slices[1].decodes);
}

TEST_F(GatherTest, TrimsTreesToAnEqualShareAndCountsIt) {
  for (int i = 0; i < 4; ++i) sequence(10, 9, chain(30));
  gathered();
  EXPECT_EQ(plan.rows(), 64);
  EXPECT_EQ(fates.of(Fate::trimmed), 4U * (30 - 15));
}

TEST_F(GatherTest, TakesTheWholePromptAndItsTreeWhenTheyFit) {
  sequence(12, 0, chain(3));
  const auto slices = gathered();
  EXPECT_EQ(slices[0].rows.context_rows, 11);
  EXPECT_TRUE(slices[0].decodes);
  EXPECT_EQ(plan.wanted, (std::vector<int32_t>{11, 12, 13, 14}));
  EXPECT_EQ(plan.sampling[2].position, 2U);
}

TEST_F(GatherTest, DropsATreeThatWouldPassTheContext) {
  sequence(299, 298, chain(3));
  gathered();
  EXPECT_EQ(plan.rows(), 1);
  EXPECT_EQ(fates.of(Fate::trimmed), 3U);
}

TEST_F(GatherTest, GivesUpATreeBeforeASequence) {
  sequence(10, 9, chain(30));
  leave_blocks(0);  // it holds the one block that its root needs
  const auto slices = gathered();
  ASSERT_EQ(slices.size(), 1U);
  EXPECT_EQ(slices[0].tree.size(), 0);
  EXPECT_EQ(fates.of(Fate::trimmed), 30U);
}

TEST_F(GatherTest, LeavesOutASequenceThatFindsNoRoom) {
  sequence(33, 32);
  leave_blocks(0);
  EXPECT_TRUE(gathered().empty());
}

TEST_F(GatherTest, TakesWhatTheCacheHasOnlyForASequenceThatFits) {
  VerifierSequence& before = sequence(33, 32);
  cache.keep(before.context);
  ready.clear();
  VerifierSequence& fits = sequence(40, 0);
  const auto slices = gathered();
  EXPECT_EQ(slices.front().adopted_rows, 32);
  EXPECT_EQ(slices.front().rows.context_rows, 39 - 32);
  EXPECT_TRUE(fits.context.holds_blocks());
  ready.clear();
  leave_blocks(0);
  VerifierSequence& waits = sequence(40, 0);
  EXPECT_TRUE(gathered().empty());
  EXPECT_FALSE(waits.context.holds_blocks());
}

// Whether a sampled tree finds room must not depend on how large it came out: that was decided by
// what was sampled.
TEST_F(GatherTest, MakesRoomForASampledTreeOfAnySizeOrForNone) {
  for (const int nodes : {1, 30}) {
    for (const bool room : {true, false}) {
      sequence(10, 9, chain(nodes), Rule::ratio).drafting.draft.nodes_asked = 30;
      leave_blocks(room ? 1 : 0);  // 32 of the 10 + 30 positions that it may need are in the block that it holds
      const auto slices = gathered();
      EXPECT_EQ(slices.front().tree.size(), room ? nodes : 0) << nodes;
      ready.clear();
      sequences.clear();
    }
  }
}

}  // namespace
}  // namespace slipstream
