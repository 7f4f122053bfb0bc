#include "services/verifier/drafter_worth.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

using namespace std::chrono_literals;

DrafterWorth asked(int times, double won, Time now = {}) {
  DrafterWorth worth;
  for (int ask = 0; ask < times; ++ask) worth.asked(won, now);
  return worth;
}

TEST(DrafterWorth, IsKnownAfterATrial) {
  EXPECT_FALSE(asked(kTrialAsks - 1, 2).known({}));
  EXPECT_TRUE(asked(kTrialAsks, 2).known({}));
  EXPECT_DOUBLE_EQ(asked(kTrialAsks, 2).gain(), 2);
}

TEST(DrafterWorth, FollowsWhatAsksBringLately) {
  DrafterWorth worth = asked(1000, 2);
  for (int ask = 0; ask < 4 * kTriedMost; ++ask) worth.asked(0, {});
  EXPECT_LT(worth.gain(), 0.05);
}

TEST(DrafterWorth, IsUnknownAgainAfterAWhile) {
  DrafterWorth worth = asked(100, 0);
  EXPECT_TRUE(worth.known(kWorthLasts - 1us));
  EXPECT_FALSE(worth.known(kWorthLasts));
  worth.asked(3, kWorthLasts);
  EXPECT_DOUBLE_EQ(worth.gain(), 3) << "as after the first ask";
}

TEST(DrafterWorth, OfOneThatWasGivenUpIsKnown) {
  DrafterWorth worth = asked(2, 0.5);
  worth.given_up({});
  EXPECT_TRUE(worth.known({}));
  EXPECT_DOUBLE_EQ(worth.gain(), 0.5);
}

TEST(DrafterWorth, OfOneThatWasGivenUpAndNeverAnsweredIsNothing) {
  DrafterWorth worth;
  worth.given_up({});
  EXPECT_DOUBLE_EQ(worth.gain(), 0);
  worth.asked(2, kWorthLasts);
  worth.given_up(3 * kWorthLasts);
  EXPECT_DOUBLE_EQ(worth.gain(), 0) << "what it won was long ago";
  EXPECT_DOUBLE_EQ(worth.expected(3 * kWorthLasts), 0);
}

// An ask that nobody waited for says what asks bring, and nothing about a tree that is waited for.
TEST(DrafterWorth, OfAnAskWhoseTreeCameTooLateIsNothingAndExpectsNoLess) {
  DrafterWorth worth = asked(kTrialAsks, 3);
  for (int ask = 0; ask < 4 * kTriedMost; ++ask) worth.missed({});
  EXPECT_LT(worth.gain(), 0.1);
  EXPECT_DOUBLE_EQ(worth.expected({}), 3);
}

TEST(DrafterWorth, OfOneThatNeverCameInTimeIsExpectedToBeNothing) {
  DrafterWorth worth;
  for (int ask = 0; ask < kTrialAsks; ++ask) worth.missed({});
  EXPECT_TRUE(worth.known({}));
  EXPECT_DOUBLE_EQ(worth.expected({}), 0);
}

TEST(DrafterWorth, IsExpectedToBeGoodWhileNobodyKnows) {
  EXPECT_DOUBLE_EQ(asked(kTrialAsks, 0).expected({}), 0);
  EXPECT_DOUBLE_EQ(asked(kTrialAsks, 0).expected(kWorthLasts), kTreeGainFirst);
}

}  // namespace
}  // namespace slipstream
