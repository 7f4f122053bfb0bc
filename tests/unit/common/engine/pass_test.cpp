#include "common/engine/pass.h"

#include <deque>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/engine/sequence_cache.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TokenTree tree_of(std::vector<TreeNode> nodes) { return *TokenTree::make(std::move(nodes), 100); }

class PassTest : public testing::Test {
 protected:
  PassTest() { plan.blocks_max = 8; }
  // Tokens 10, 11, ..., of which `cached` positions are computed.
  CachedSequence& sequence(int32_t tokens, int32_t cached, LogitsParams logits_params = {}) {
    CachedSequence& made = sequences.emplace_back(cache.pool(), tokens, std::move(logits_params));
    for (int32_t i = 0; i < tokens; ++i) made.append(std::vector<TokenId>{10 + i});
    EXPECT_TRUE(cache.reserve(made, tokens + kTreeNodesMax, MayEvict::prefixes));
    made.computed(cached);
    return made;
  }
  std::vector<TokenId> path(size_t processed) const {
    const ProcessedRow& row = plan.processed.at(processed);
    return {plan.path.begin() + row.path_begin, plan.path.begin() + row.path_begin + row.path_size};
  }

  SequenceCache cache{64, [](const CachedSequence&) { return nullptr; }};
  std::deque<CachedSequence> sequences;
  StepPlan plan;
  Pass pass{plan};
};

TEST_F(PassTest, LaysOutTheNextRowsOfAContext) {
  CachedSequence& one = sequence(5, 2);
  EXPECT_EQ(pass.add_context(one, 2).context_rows, 2);
  EXPECT_THAT(plan.token, ElementsAre(12, 13));
  EXPECT_THAT(plan.position, ElementsAre(2, 3));
  EXPECT_THAT(plan.slot, ElementsAre(one.slot(2), one.slot(3)));
  EXPECT_THAT(plan.visible, ElementsAre(3, 4));
  EXPECT_THAT(plan.wanted, IsEmpty());
  EXPECT_EQ(one.cached(), 2) << "until the pass has run";
}

// What a draft head reads of a row is kept at the slot of the row before it, on its own path.
TEST_F(PassTest, TellsTheSlotOfTheTokenBeforeEachRow) {
  CachedSequence& one = sequence(4, 0);
  const auto rows = tree_rows(tree_of({{7, kRoot, 1}, {8, kRoot, 1}, {9, 1, 1}}));
  pass.add_tree(one, 3, {.rows = rows});
  EXPECT_THAT(plan.parent_slot, ElementsAre(-1, one.slot(0), one.slot(1), one.slot(2), one.slot(3), one.slot(3), one.slot(5)));
}

TEST_F(PassTest, LaysATreeOutFromItsBaseAsFromItsSequence) {
  CachedSequence& one = sequence(4, 3);
  one.commit({}, std::vector<TokenId>{14});
  const auto rows = tree_rows(tree_of({{7, kRoot, 1}, {8, 0, 1}}));
  const PassTree tree{.rows = rows, .seed = 5, .params = {.temperature = 0.5F}};
  StepPlan other{.blocks_max = plan.blocks_max};
  TreeBase base = take_base(one);
  Pass(other).add_tree(base, tree);
  pass.add_tree(one, 0, tree);
  EXPECT_EQ(other.token, plan.token);
  EXPECT_EQ(other.position, plan.position);
  EXPECT_EQ(other.slot, plan.slot);
  EXPECT_EQ(other.parent_slot, plan.parent_slot);
  EXPECT_EQ(other.visible, plan.visible);
  EXPECT_EQ(other.ancestors, plan.ancestors);
  EXPECT_EQ(other.wanted, plan.wanted);
  EXPECT_EQ(other.sampling[1].position, plan.sampling[1].position);
}

TEST_F(PassTest, ABaseTakesThePendingMovesOnce) {
  CachedSequence& one = sequence(4, 3);
  one.commit(std::vector<int32_t>{2}, std::vector<TokenId>{14, 15});
  ASSERT_EQ(one.pending_moves().size(), 1U);
  TreeBase base = take_base(one);
  EXPECT_THAT(one.pending_moves(), IsEmpty());
  const auto rows = tree_rows(TokenTree());
  pass.add_tree(base, {.rows = rows});
  EXPECT_EQ(plan.moves.size(), 1U);
  pass.add_tree(base, {.rows = rows});
  EXPECT_EQ(plan.moves.size(), 1U) << "the next level moves nothing again";
}

TEST_F(PassTest, HangsATreeBehindTheContext) {
  CachedSequence& one = sequence(4, 1);
  const auto rows = tree_rows(tree_of({{7, kRoot, 1}, {8, kRoot, 1}, {9, 1, 1}}));
  const PassSlice slice = pass.add_tree(one, 2, {.rows = rows, .seed = 5, .params = {.temperature = 0.5F}});
  EXPECT_EQ(slice.context_rows, 2);
  EXPECT_EQ(slice.first_wanted, 0);
  EXPECT_THAT(plan.token, ElementsAre(11, 12, 13, 7, 8, 9));
  EXPECT_THAT(plan.wanted, ElementsAre(2, 3, 4, 5)) << "the root and the nodes";
  EXPECT_THAT(plan.position, ElementsAre(1, 2, 3, 4, 4, 5));
  EXPECT_EQ(plan.slot.back(), one.slot(3 + 3)) << "row 3 lies three positions behind the root";
  EXPECT_THAT(plan.visible, ElementsAre(2, 3, 3, 3, 3, 3));
  EXPECT_THAT(plan.ancestors, ElementsAre(0, 0, 0b0001, 0b0011, 0b0101, 0b1101));
  EXPECT_THAT(plan.sampling, testing::SizeIs(4));
  EXPECT_EQ(plan.sampling[3].position, 2u) << "the third token of the output";
  EXPECT_EQ(plan.sampling[3].seed, 5u);
}

TEST_F(PassTest, AddsTheNewestLevelOfATreeBehindThoseComputedBefore) {
  CachedSequence& one = sequence(4, 3, {.frequency_penalty = 1});
  const auto rows = tree_rows(tree_of({{7, kRoot, 1}, {8, kRoot, 1}, {9, 1, 1}}));
  pass.add_tree(one, 0, {.rows = rows, .first = 3, .params = {}});
  EXPECT_THAT(plan.token, ElementsAre(9));
  EXPECT_THAT(plan.slot, ElementsAre(one.slot(6)));
  EXPECT_THAT(path(0), ElementsAre(8, 9)) << "its parent is of an earlier pass";
}

TEST_F(PassTest, TellsTheLogitsProcessorEachRowsOwnPath) {
  pass.add_tree(sequence(4, 3), 0, {.rows = tree_rows(tree_of({{5, kRoot, 1}})), .params = {}});
  const auto rows = tree_rows(tree_of({{7, kRoot, 1}, {8, kRoot, 1}, {5, 0, 1}, {6, 1, 1}}));
  pass.add_tree(sequence(4, 3, {.frequency_penalty = 1}), 0, {.rows = rows, .params = {}});
  ASSERT_EQ(plan.processed.size(), 5u) << "rows of the second sequence only";
  EXPECT_EQ(plan.processed[0].wanted, 2);
  EXPECT_THAT(path(0), IsEmpty()) << "the root";
  EXPECT_THAT(path(2), ElementsAre(8));
  EXPECT_THAT(path(3), ElementsAre(7, 5));
  EXPECT_THAT(path(4), ElementsAre(8, 6));
  EXPECT_EQ(plan.logits_processors.size(), 1u);
}

TEST_F(PassTest, AsksForTheLogprobsOfATreesRows) {
  pass.add_tree(sequence(4, 3), 0, {.rows = tree_rows(TokenTree()), .params = {}, .top_logprobs = 1});
  const auto rows = tree_rows(tree_of({{7, kRoot, 1}, {8, 0, 1}}));
  const PassSlice slice = pass.add_tree(sequence(4, 3), 0, {.rows = rows, .params = {}, .top_logprobs = 2});
  ASSERT_EQ(plan.logprobs.size(), 1u + 3u);
  EXPECT_EQ(slice.first_logprob, 1);
  EXPECT_EQ(plan.logprobs[1].parent, -1) << "the root";
  EXPECT_EQ(plan.logprobs[3].parent, 2) << "the row before it";
  EXPECT_EQ(plan.logprobs[3].wanted, 3);
  EXPECT_EQ(plan.logprobs[3].top, 2);
}

TEST_F(PassTest, TakesThePendingMovesOfASequence) {
  CachedSequence& one = sequence(4, 3);
  one.commit(std::vector<int32_t>{2}, std::vector<TokenId>{7, 8});
  pass.add_tree(one, 0, {.rows = tree_rows(TokenTree()), .params = {}});
  EXPECT_THAT(plan.moves, ElementsAre(KvMove{one.slot(5), one.slot(4)}));
  EXPECT_TRUE(one.pending_moves().empty());
}

TEST_F(PassTest, IsPricedByItsRowsPairsAndReads) {
  pass.add_tree(sequence(20, 19), 0, {.rows = tree_rows(TokenTree()), .params = {}});
  pass.add_tree(sequence(10, 9), 0, {.rows = tree_rows(tree_of({{7, kRoot, 1}, {8, 0, 1}})), .params = {}});
  const StepLoad load = load_of(plan);
  EXPECT_EQ(load.rows, 4);
  EXPECT_EQ(load.pairs, 19 + 9 + 9 + 9) << "without what rows of one tree see of each other";
  EXPECT_EQ(load.reads, (19 + 1) + (9 + 3)) << "each sequence's positions once, with its tree";
}

TEST_F(PassTest, SaysWhetherItsOutputLayerMayBeScreened) {
  pass.add_tree(sequence(20, 19), 0, {.rows = tree_rows(TokenTree()), .params = {.temperature = 0}});
  EXPECT_FALSE(load_of(plan).whole_output);
  pass.add_tree(sequence(10, 9), 0, {.rows = tree_rows(TokenTree()), .params = {.temperature = 0.5F}});
  EXPECT_TRUE(load_of(plan).whole_output);
  plan.clear();
  pass.add_tree(sequence(20, 19), 0, {.rows = tree_rows(TokenTree()), .params = {.temperature = 0}, .top_logprobs = 0});
  EXPECT_TRUE(load_of(plan).whole_output);
}

TEST_F(PassTest, IsPricedByWhatAWindowLeaves) {
  pass.add_tree(sequence(20, 19), 0, {.rows = tree_rows(TokenTree()), .params = {}});
  pass.add_tree(sequence(10, 9), 0, {.rows = tree_rows(tree_of({{7, kRoot, 1}, {8, 0, 1}})), .params = {}});
  const StepLoad load = load_of(plan, 5);
  EXPECT_EQ(load.pairs, 5 + 5 + 5 + 5);
  EXPECT_EQ(load.reads, 5 + (5 + 2)) << "each row's window begins one later than that of the row before it";
}

}  // namespace
}  // namespace slipstream
