#include "services/verifier/tree_timing.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(TreeTiming, TreesOfTheTargetsOwnChoicesMayBeLateCutOrDropped) {
  for (const Rule rule : {Rule::greedy, Rule::coupled}) {
    const TreeTiming timing = tree_timing(rule);
    EXPECT_FALSE(timing.waits_alone || timing.keeps_budget || timing.reserves_whole);
  }
}

TEST(TreeTiming, SampledTreesAreWaitedForAloneKeepTheirBudgetAndHaveTheirCacheWhole) {
  for (const Rule rule : {Rule::ratio, Rule::traversal, Rule::lenience, Rule::pareto, Rule::uniform, Rule::typical}) {
    const TreeTiming timing = tree_timing(rule);
    EXPECT_TRUE(timing.waits_alone && timing.keeps_budget && timing.reserves_whole);
  }
}

}  // namespace
}  // namespace slipstream
