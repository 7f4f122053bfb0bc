#include "services/verifier/gather.h"

#include <deque>

#include <gtest/gtest.h>

#include "tests/unit/services/verifier/costs.h"

namespace slipstream {
namespace {

class GatherTest : public testing::Test {
 protected:
  VerifierSequence& sequence(int tokens, int cached, std::vector<TreeNode> nodes = {}) {
    VerifierSequence& made = sequences.emplace_back(pool);
    made.id.counter = sequences.size();
    made.tokens.assign(static_cast<size_t>(tokens), 1);
    made.spec.prompt_length = tokens;
    made.cached = cached;
    made.tuning.nodes_max = 60;
    while (made.guard.nodes_max() < 60) made.guard.drafted_step(1, 1, false);
    made.draft.tree = *TokenTree::make(std::move(nodes), 100);
    made.report.held = static_cast<uint32_t>(made.draft.tree.size());
    made.table.reserve(cached);
    ready.push_back(&made);
    return made;
  }
  static std::vector<TreeNode> chain(int nodes) {
    std::vector<TreeNode> chain;
    for (int i = 0; i < nodes; ++i) chain.push_back({2, i - 1, 1.0F});
    return chain;
  }
  std::vector<Lane> gathered() {
    return gather(ready, {.cost = cost, .rows_max = rows_max, .blocks_max = 10, .context_max = 300}, room, verify, trimmed);
  }

  BlockPool pool{32};
  std::deque<VerifierSequence> sequences;
  std::vector<VerifierSequence*> ready;
  VerifyPlan verify;
  StepPlan& plan = verify.step;
  int rows_max = 64;
  CostModel cost = even_cost(0.008);
  CacheRoom room{
      .reserve = [](VerifierSequence& sequence, int32_t positions, bool) { return sequence.table.reserve(positions); }};
  uint64_t trimmed = 0;
};

TEST_F(GatherTest, GivesEveryDecodingSequenceItsRoot) {
  sequence(10, 9, chain(30));
  sequence(20, 19, chain(30));
  const auto lanes = gathered();
  EXPECT_EQ(plan.rows(), 2 + 30 + 30);
  EXPECT_EQ(lanes[1].first_wanted, 31);
  EXPECT_EQ(plan.position[31], 19);
  EXPECT_EQ(plan.visible[32], 19);
  EXPECT_EQ(plan.ancestors[33], 0b111U);
}

TEST_F(GatherTest, SaysWhatAttentionHasToRead) {
  sequence(20, 19);
  sequence(10, 9, chain(2));
  gathered();
  const StepLoad load = load_of(plan);
  EXPECT_EQ(load.rows, 4);
  EXPECT_EQ(load.pairs, 19 + 9 + 9 + 9) << "without what rows of one tree see of each other";
  EXPECT_EQ(load.reads, (19 + 1) + (9 + 3)) << "each sequence's positions once, with its tree";
}

TEST_F(GatherTest, KeepsRowsForAWaitingPrompt) {
  sequence(10, 9, chain(30));
  sequence(200, 0);
  const auto lanes = gathered();
  EXPECT_EQ(lanes[0].tree.size(), 30);
  EXPECT_EQ(lanes[1].prompt_rows, 64 - 31);
  EXPECT_FALSE(lanes[1].decodes);
}

TEST_F(GatherTest, TrimsTreesToAnEqualShareAndCountsIt) {
  for (int i = 0; i < 4; ++i) sequence(10, 9, chain(30));
  gathered();
  EXPECT_EQ(plan.rows(), 64);
  EXPECT_EQ(trimmed, 4 * (30 - 15));
}

TEST_F(GatherTest, TakesTheWholePromptAndItsTreeWhenTheyFit) {
  sequence(12, 0, chain(3));
  const auto lanes = gathered();
  EXPECT_EQ(lanes[0].prompt_rows, 11);
  EXPECT_TRUE(lanes[0].decodes);
  EXPECT_EQ(plan.wanted, (std::vector<int32_t>{11, 12, 13, 14}));
  EXPECT_EQ(plan.sampling[2].position, 2U);
}

TEST_F(GatherTest, TellsEachAdjustedRowItsOwnPath) {
  sequence(10, 9, chain(1));
  VerifierSequence& adjusts = sequence(10, 9, {{7, kRoot, 1}, {8, kRoot, 1}, {5, 0, 1}, {6, 1, 1}});
  adjusts.adjuster = std::make_shared<Adjuster>(Adjustments{.frequency_penalty = 1});
  gathered();
  const auto path = [&](size_t row) {
    const AdjustedRow& at = plan.adjusted.at(row);
    return std::vector(plan.path.begin() + at.path_begin, plan.path.begin() + at.path_begin + at.path_size);
  };
  ASSERT_EQ(plan.adjusted.size(), 5U) << "those of the second sequence, none of the first";
  EXPECT_EQ(plan.adjusted[0].wanted, 2);
  EXPECT_EQ(path(0), (std::vector<TokenId>{}));
  EXPECT_EQ(path(2), (std::vector<TokenId>{8}));
  EXPECT_EQ(path(3), (std::vector<TokenId>{7, 5}));
  EXPECT_EQ(path(4), (std::vector<TokenId>{8, 6}));
  EXPECT_EQ(plan.adjusters.size(), 1U);
}

TEST_F(GatherTest, DropsATreeThatWouldPassTheContext) {
  sequence(299, 298, chain(3));
  gathered();
  EXPECT_EQ(plan.rows(), 1);
  EXPECT_EQ(trimmed, 3U);
}

TEST_F(GatherTest, GivesUpATreeBeforeASequence) {
  sequence(10, 9, chain(30));
  BlockTable others(pool);
  others.reserve(31 * kBlockTokens);  // one block is left out of 32, and the sequence holds it
  const auto lanes = gathered();
  ASSERT_EQ(lanes.size(), 1U);
  EXPECT_EQ(lanes[0].tree.size(), 0);
  EXPECT_EQ(trimmed, 30U);
}

TEST_F(GatherTest, LeavesOutASequenceThatFindsNoRoom) {
  sequence(33, 32);
  BlockTable others(pool);
  others.reserve(31 * kBlockTokens);
  EXPECT_TRUE(gathered().empty());
}

// Whether a drawn tree finds room must not depend on how large it came out: that was decided by what was drawn.
TEST_F(GatherTest, TakesWhatTheCacheHasOnlyForASequenceThatFits) {
  room.adopt = [](VerifierSequence& sequence) {
    EXPECT_TRUE(sequence.table.reserve(32));
    sequence.cached = 32;
  };
  room.give_up = [](VerifierSequence& sequence) {
    sequence.table.shrink(0);
    sequence.cached = 0;
  };
  sequence(40, 0);
  const auto lanes = gathered();
  EXPECT_EQ(lanes.front().adopted_rows, 32);
  EXPECT_EQ(lanes.front().prompt_rows, 39 - 32);
  ready.clear();
  room.reserve = [](VerifierSequence&, int32_t, bool) { return false; };
  VerifierSequence& waits = sequence(40, 0);
  EXPECT_TRUE(gathered().empty());
  EXPECT_TRUE(waits.table.blocks().empty());
}

TEST_F(GatherTest, MakesRoomForADrawnTreeOfAnySizeOrForNone) {
  for (const int nodes : {1, 30}) {
    VerifierSequence& one = sequence(10, 9);
    one.spec.acceptance.rule = Rule::ratio;
    one.tuning.nodes_max = 30;
    one.draft.tree = DraftTree::certain(*TokenTree::make(chain(nodes), 100));
    one.report.held = static_cast<uint32_t>(nodes);
    int asked = 0;
    room.reserve = [&](VerifierSequence&, int32_t positions, bool evict) {
      if (!evict) asked = positions;
      return evict;
    };
    gather(std::span(&ready.back(), 1), {.cost = cost, .rows_max = 64, .blocks_max = 10, .context_max = 300}, room, verify,
           trimmed);
    EXPECT_EQ(asked, 10 + 30) << nodes;
  }
}

}  // namespace
}  // namespace slipstream
