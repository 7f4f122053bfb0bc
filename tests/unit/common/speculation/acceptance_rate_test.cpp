#include "common/speculation/acceptance_rate.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(AcceptanceRate, IsHopefulAtFirst) { EXPECT_EQ(AcceptanceRate().alpha(), kAlphaFirst); }

TEST(AcceptanceRate, FallsToNothingWhereNothingIsAccepted) {
  AcceptanceRate rate;
  for (int tree = 0; tree < 200; ++tree) rate.tree(8, 0);
  EXPECT_LT(rate.alpha(), 0.01);
}

TEST(AcceptanceRate, CountsNoLossBehindATreeThatWasAcceptedToItsEnd) {
  AcceptanceRate rate;
  for (int tree = 0; tree < 200; ++tree) rate.tree(1, 1);
  EXPECT_GT(rate.alpha(), 0.99);
}

// Chains of which each node is accepted with that probability: whatever their length, the mean of
// what is estimated is alpha.
TEST(AcceptanceRate, FindsTheAlphaOfChains) {
  std::mt19937 random(1);
  for (const double alpha : {0.2, 0.5, 0.9}) {
    for (const int depth : {1, 3, 12}) {
      std::bernoulli_distribution wins(alpha);
      AcceptanceRate rate;
      double sum = 0;
      constexpr int kTrees = 40'000;
      for (int tree = 0; tree < kTrees; ++tree) {
        int accepted = 0;
        while (accepted < depth && wins(random)) ++accepted;
        rate.tree(depth, accepted);
        sum += rate.alpha();
      }
      EXPECT_NEAR(sum / kTrees, alpha, 0.03) << "chains of " << depth;
    }
  }
}

}  // namespace
}  // namespace slipstream
