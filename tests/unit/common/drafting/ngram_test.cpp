#include "common/drafting/ngram.h"

#include <gtest/gtest.h>

#include "services/drafter/draft_job.h"
#include "tests/unit/services/drafter/drafter_stage.h"

namespace slipstream {
namespace {

const DraftKey kKey{kVerifier, kSequence};
const DraftKey kOtherKey{kOtherVerifier, kSequence};

std::vector<TokenId> tokens_of(const TokenTree& tree) {
  std::vector<TokenId> tokens;
  for (const TreeNode& node : tree.nodes()) tokens.push_back(node.token);
  return tokens;
}

class Ngram : public testing::Test {
 protected:
  void learn(const DraftKey& key, const std::vector<TokenId>& tokens) {
    method.begin(key, {});
    method.advance(key, tokens);
  }
  TokenTree draft(const DraftKey& key, const StopRule& rule = {}) {
    const std::vector<DraftAsk> asks{{key, rule}};
    return method.draft(asks)->at(0).value().tokens();
  }
  NgramMethod method;
};

TEST_F(Ngram, DraftsWhatFollowedBefore) {
  learn(kKey, {1, 2, 3, 4, 5, 9, 1, 2});
  EXPECT_EQ(tokens_of(draft(kKey, {.nodes_max = 3})), (std::vector<TokenId>{3, 4, 5}));
}

TEST_F(Ngram, DraftsNothingThatItNeverSaw) {
  learn(kKey, {1, 2, 3, 4, 5});
  EXPECT_TRUE(draft(kKey).empty());
}

TEST_F(Ngram, IsSurerOfALongerMatch) {
  learn(kKey, {1, 2, 3, 9, 1, 2});
  learn(kOtherKey, {1, 2, 3, 4, 5, 6, 9, 1, 2, 3, 4, 5});
  EXPECT_LT(draft(kKey).nodes()[0].survival, draft(kOtherKey).nodes()[0].survival);
}

TEST_F(Ngram, MultipliesSurvivalAlongTheChain) {
  learn(kKey, {1, 2, 3, 4, 9, 1, 2});
  const TokenTree tree = draft(kKey);
  EXPECT_FLOAT_EQ(tree.nodes()[0].survival, kNgramConfidence[0]);
  EXPECT_FLOAT_EQ(tree.nodes()[1].survival, kNgramConfidence[0] * kNgramConfidence[0]);
}

TEST_F(Ngram, StopsWhereTheThresholdSays) {
  learn(kKey, {1, 2, 3, 4, 5, 6, 9, 1, 2});
  EXPECT_EQ(draft(kKey, {.threshold = 0.6F}).size(), 1);  // 0.45 survives 1 - 0.6, its square does not
  EXPECT_EQ(draft(kKey, {.threshold = 0.3F}).size(), 0);
}

TEST_F(Ngram, StopsAtItsBudgetOfNodesAndDepth) {
  learn(kKey, {1, 2, 3, 4, 5, 6, 9, 1, 2});
  EXPECT_EQ(draft(kKey, {.nodes_max = 2}).size(), 2);
  EXPECT_EQ(draft(kKey, {.depth_max = 3}).size(), 3);
  EXPECT_EQ(draft(kKey, {.nodes_max = 0}).size(), 0);
}

TEST_F(Ngram, KeepsSequencesApart) {
  learn(kKey, {1, 2, 3, 9, 1, 2});
  learn(kOtherKey, {1, 2, 7, 9, 1, 2});
  EXPECT_EQ(draft(kKey).nodes()[0].token, 3);
  EXPECT_EQ(draft(kOtherKey).nodes()[0].token, 7);
}

TEST_F(Ngram, ForgetsWhatCameBeforeABegin) {
  learn(kKey, {1, 2, 3, 9, 1, 2});
  learn(kKey, {1, 2});
  EXPECT_TRUE(draft(kKey).empty());
}

TEST_F(Ngram, RunsAJobInOrder) {
  DraftPlan plan;
  plan.operations.push_back(DraftPlan::Begin{kKey, {}});
  plan.operations.push_back(DraftPlan::Extend{kKey, {1, 2, 3}});
  plan.operations.push_back(DraftPlan::Extend{kKey, {9, 1, 2}});
  plan.asks = {{kKey, {.nodes_max = 1}}};
  const Result<Drafts> drafts = run_draft(method, plan);
  ASSERT_TRUE(drafts);
  EXPECT_EQ(tokens_of(drafts->trees.at(0).value().tokens()), std::vector<TokenId>{3});
}

}  // namespace
}  // namespace slipstream
