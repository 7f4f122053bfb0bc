#include "common/speculation/wait_budget.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

using namespace std::chrono_literals;

// The share of the time computed that 10,000 steps wait where each may wait 3 ms, computes 8 ms and
// is saved so many steps.
double waited_share(double saved_steps) {
  WaitBudget budget;
  std::chrono::microseconds waited{0}, computed{0};
  for (int step = 0; step < 10'000; ++step) {
    const auto wait = budget.allows() ? 3000us : 0us;
    budget.step(wait, 8000us, wait > 0us ? saved_steps : 0);
    waited += wait;
    computed += 8000us;
  }
  return static_cast<double>(waited.count()) / static_cast<double>(computed.count());
}

TEST(WaitBudget, AllowsAFirstWait) { EXPECT_TRUE(WaitBudget().allows()); }

TEST(WaitBudget, LetsDraftsThatSaveNothingCostItsShareOnly) {
  EXPECT_LE(waited_share(0), kWaitShare + 0.001);
  EXPECT_GE(waited_share(0), kWaitShare - 0.001);
}

TEST(WaitBudget, AlwaysWaitsForDraftsThatSaveMoreThanTheyCost) { EXPECT_DOUBLE_EQ(waited_share(0.4), 3.0 / 8); }

TEST(WaitBudget, LetsWaitsCostNoMoreThanTheySaveAndItsShare) {
  EXPECT_LE(waited_share(0.1), kWaitShare + 0.1 * waited_share(0.1) * 8 / 3 + 0.001);
}

TEST(WaitBudget, SavesUpNoMoreThanItsLimit) {
  WaitBudget budget;
  for (int step = 0; step < 1000; ++step) budget.step(0us, 8000us, 3);
  int waits = 0;
  for (; budget.allows(); ++waits) budget.step(3000us, 0us, 0);
  EXPECT_EQ(waits, 11);  // of 3 ms, from four steps of 8 ms
}

TEST(WaitBudget, BeginsNoWaitThatItCannotPayToTheEnd) {
  const WaitBudget budget;
  EXPECT_TRUE(budget.allows(0us, kWaitCreditMax - 1us));
  EXPECT_FALSE(budget.allows(0us, kWaitCreditMax));
  EXPECT_FALSE(budget.allows(15'000us, 5000us)) << "what was waited is spent";
  EXPECT_EQ(budget.credit(), kWaitCreditMax);
}

TEST(WaitBudget, PracticallyAlwaysWaitsAtTheLargestShare) {
  WaitBudget budget(1000);
  for (int step = 0; step < 100; ++step) {
    EXPECT_TRUE(budget.allows(0us, 1'000'000us));
    budget.step(1'000'000us, 100us, 0);
  }
}

TEST(WaitBudget, SavesUpForALongWaitWhereStepsAreLong) {
  WaitBudget budget;
  int steps = 0;
  for (; !budget.allows(0us, 150'000us); ++steps) {
    ASSERT_LT(steps, 100);
    budget.step(0us, 200'000us, 0);
  }
  EXPECT_EQ(steps, 14);  // at a twentieth of 200 ms each, from 20 ms
}

}  // namespace
}  // namespace slipstream
