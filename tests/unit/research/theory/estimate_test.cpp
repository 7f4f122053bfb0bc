#include "research/theory/estimate.h"

#include <gtest/gtest.h>

#include "research/theory/random_pair.h"

namespace slipstream::theory {
namespace {

TEST(Estimate, IsTheMeanAndItsStandardError) {
  Mean mean;
  for (const double value : {1.0, 2.0, 3.0, 4.0}) mean.add(value);
  EXPECT_DOUBLE_EQ(mean.estimate().mean, 2.5);
  EXPECT_DOUBLE_EQ(mean.estimate().error, std::sqrt(5.0 / 3 / 4));
  EXPECT_EQ(mean.estimate().runs, 4u);
}

TEST(Estimate, OfAShareErrsAsItsTheorySaysEvenWhereNothingHappened) {
  EXPECT_DOUBLE_EQ(share(0, 100, 0.01).error, std::sqrt(100 * 0.01 * 0.99 + 2) / 100);
  EXPECT_NEAR(share(0, 1'000'000, 0.3).error, std::sqrt(0.3 * 0.7 / 1e6), 1e-8);
  EXPECT_LT((Comparison{"rare", 0.01, share(0, 100, 0.01)}.standard_errors()), 1.1);
  EXPECT_GT((Comparison{"never", 0, share(1, 100, 0)}.standard_errors()), 1e9) << "what cannot happen happened";
}

TEST(Estimate, CoversTheTruthNineteenTimesInTwenty) {
  int inside = 0;
  for (uint32_t set = 0; set < 2000; ++set) {
    CounterRandomPair random(4, set);
    Mean mean;
    for (int run = 0; run < 200; ++run) mean.add(random.accept().accept(0.3) ? 1 : 0);
    inside += Comparison{"coin", 0.3, mean.estimate()}.inside() ? 1 : 0;
  }
  EXPECT_NEAR(inside / 2000.0, 0.95, 0.02);
}

TEST(Agreement, IsJudgedByTheWorstOfAll) {
  std::vector<Comparison> all(100, {"fine", 1.0, {1.01, 0.01, 10}});
  EXPECT_TRUE(agreement(all).holds());
  EXPECT_NEAR(agreement(all).bound, 3.89, 0.01) << "100 at once: 1 - 0.01 / 100 of a normal variable";
  all[50] = {"off", 1.0, {1.02, 0.01, 10}};
  EXPECT_TRUE(agreement(all).holds()) << "one in twenty may be outside of its own interval";
  EXPECT_EQ(agreement(all).outside, 1u);
  all[50] = {"wrong", 1.0, {1.04, 0.01, 10}};
  EXPECT_FALSE(agreement(all).holds());
}

}  // namespace
}  // namespace slipstream::theory
