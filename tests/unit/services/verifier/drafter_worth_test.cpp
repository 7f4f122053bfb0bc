#include "services/verifier/drafter_worth.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

using namespace std::chrono_literals;

constexpr double kPrice = 0.1;  // of a row, in tokens

DrafterWorth asked(int times, int accepted, Time now = {}) {
  DrafterWorth worth;
  for (int ask = 0; ask < times; ++ask) worth.asked(accepted, accepted, now);
  return worth;
}

TEST(DrafterWorth, IsKnownAfterATrial) {
  EXPECT_FALSE(asked(kTrialAsks - 1, 2).known({}));
  EXPECT_TRUE(asked(kTrialAsks, 2).known({}));
  EXPECT_DOUBLE_EQ(asked(kTrialAsks, 2).gain(0), 2);
}

TEST(DrafterWorth, FollowsWhatAsksBringLately) {
  DrafterWorth worth = asked(1000, 2);
  for (int ask = 0; ask < 4 * kTriedMost; ++ask) worth.asked(0, 0, {});
  EXPECT_LT(worth.gain(0), 0.05);
}

TEST(DrafterWorth, CountsTheRowsOfAllAsksAtThePriceOfNow) {
  DrafterWorth worth;
  for (int ask = 0; ask < kTrialAsks; ++ask) worth.asked(1, 4, {});
  EXPECT_DOUBLE_EQ(worth.gain(kPrice), 1 - 4 * kPrice);
  EXPECT_DOUBLE_EQ(worth.gain(3 * kPrice), 1 - 12 * kPrice);
  EXPECT_DOUBLE_EQ(worth.expected(3 * kPrice, {}), 1 - 12 * kPrice);
}

TEST(DrafterWorth, IsUnknownAgainAfterAWhile) {
  DrafterWorth worth = asked(100, 0);
  EXPECT_TRUE(worth.known(kWorthLasts - 1us));
  EXPECT_FALSE(worth.known(kWorthLasts));
  worth.asked(3, 3, kWorthLasts);
  EXPECT_DOUBLE_EQ(worth.gain(0), 3) << "as after the first ask";
}

TEST(DrafterWorth, OfOneThatWasGivenUpIsKnown) {
  DrafterWorth worth = asked(2, 1);
  worth.given_up({});
  EXPECT_TRUE(worth.known({}));
  EXPECT_DOUBLE_EQ(worth.gain(0), 1);
}

TEST(DrafterWorth, OfOneThatWasGivenUpAndNeverAnsweredIsNothing) {
  DrafterWorth worth;
  worth.given_up({});
  EXPECT_DOUBLE_EQ(worth.gain(0), 0);
  worth.asked(2, 2, kWorthLasts);
  worth.given_up(3 * kWorthLasts);
  EXPECT_DOUBLE_EQ(worth.gain(0), 0) << "what it won was long ago";
  EXPECT_DOUBLE_EQ(worth.expected(0, 3 * kWorthLasts), 0);
}

// An ask that nobody waited for says what asks bring, and nothing about a tree that is waited for.
TEST(DrafterWorth, OfAnAskWhoseTreeCameTooLateIsNothingAndExpectsNoLess) {
  DrafterWorth worth = asked(kTrialAsks, 3);
  for (int ask = 0; ask < 4 * kTriedMost; ++ask) worth.missed({});
  EXPECT_LT(worth.gain(0), 0.1);
  EXPECT_DOUBLE_EQ(worth.expected(0, {}), 3);
}

TEST(DrafterWorth, OfOneThatNeverCameInTimeIsExpectedToBeNothing) {
  DrafterWorth worth;
  for (int ask = 0; ask < kTrialAsks; ++ask) worth.missed({});
  EXPECT_TRUE(worth.known({}));
  EXPECT_DOUBLE_EQ(worth.expected(0, {}), 0);
}

TEST(DrafterWorth, OfAsksThatCostWhatTheyWinIsLittle) {
  EXPECT_TRUE(asked(kTrialAsks, 2).brings_little(0.98, {}));
  EXPECT_FALSE(asked(kTrialAsks, 2).brings_little(0.97, {}));
  EXPECT_FALSE(asked(kTrialAsks - 1, 0).brings_little(0.98, {})) << "nobody knows yet";
}

TEST(DrafterWorth, IsExpectedToBeGoodWhileNobodyKnows) {
  EXPECT_DOUBLE_EQ(asked(kTrialAsks, 0).expected(0, {}), 0);
  EXPECT_DOUBLE_EQ(asked(kTrialAsks, 0).expected(0, kWorthLasts), kTreeGainFirst);
}

}  // namespace
}  // namespace slipstream
