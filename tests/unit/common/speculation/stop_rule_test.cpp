#include "common/speculation/stop_rule.h"

#include <cmath>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(StopRule, StopsAtFixedK) {
  const StopRule rule{.nodes_max = 3, .depth_max = 8, .threshold = 1};
  EXPECT_TRUE(rule.admits(0.0F, 3, 2));
  EXPECT_FALSE(rule.admits(1.0F, 3, 3));
}

TEST(StopRule, StopsBelowItsDepth) {
  const StopRule rule{.nodes_max = 8, .depth_max = 2, .threshold = 1};
  EXPECT_TRUE(rule.admits(1.0F, 2, 0));
  EXPECT_FALSE(rule.admits(1.0F, 3, 0));
}

TEST(StopRule, StopsWhenRejectionIsLikelierThanTheThreshold) {
  const StopRule rule{.nodes_max = 8, .depth_max = 8, .threshold = 0.5F};
  EXPECT_TRUE(rule.admits(0.5F, 1, 0));
  EXPECT_FALSE(rule.admits(0.499F, 1, 0));
}

TEST(StopRule, AdmitsNothingAtZeroNodes) { EXPECT_FALSE((StopRule{.nodes_max = 0}.admits(1.0F, 1, 0))); }

TEST(StopRule, AdmitsNoSurvivalThatIsNotANumber) { EXPECT_FALSE(StopRule{}.admits(NAN, 1, 0)); }

TEST(AcceptanceBound, FallsWithTheRootOfTheEntropy) {
  EXPECT_EQ(acceptance_bound(0), 1);
  EXPECT_FLOAT_EQ(acceptance_bound(0.8F), 0.6F);
  EXPECT_LT(acceptance_bound(6), 0) << "of many tokens it says nothing";
}

TEST(StopRule, OfAChainStaysWithinItsBounds) {
  EXPECT_EQ(chain_within({.nodes_max = 8, .depth_max = 3}, {.length_max = 4}).depth_max, 3);
  EXPECT_EQ(chain_within({.nodes_max = 2, .depth_max = 3}, {.length_max = 4}).nodes_max, 2);
  EXPECT_EQ(chain_within({.nodes_max = 8, .depth_max = 8, .level_price = 1}, {.length_max = 4}).level_price, 0);
}

}  // namespace
}  // namespace slipstream
