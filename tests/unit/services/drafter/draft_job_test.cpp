#include "services/drafter/draft_job.h"

#include <gtest/gtest.h>

#include "common/drafting/ngram.h"

namespace slipstream {
namespace {

const DraftKey kKey{Peer{1}, SequenceId{7, 1}};

TEST(DraftJob, RunsItsOperationsInOrderAndThenItsAsks) {
  NgramMethod method;
  DraftPlan plan;
  plan.operations.push_back(DraftPlan::Begin{kKey, {}});
  plan.operations.push_back(DraftPlan::Extend{kKey, {1, 2, 3}});
  plan.operations.push_back(DraftPlan::Extend{kKey, {9, 1, 2}});
  plan.asks = {{kKey, {.nodes_max = 1}}};
  const Result<Drafts> drafts = run_draft(method, plan);
  ASSERT_TRUE(drafts);
  const Draft& tree = drafts->trees.at(0);
  ASSERT_TRUE(tree);
  ASSERT_EQ(tree->size(), 1);
  EXPECT_EQ(tree->nodes()[0].token, 3);
}

}  // namespace
}  // namespace slipstream
