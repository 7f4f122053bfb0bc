#include "common/speculation/wait_budget.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

using namespace std::chrono_literals;

// The share of the time computed that 10,000 steps wait where each may wait 3 ms, computes 8 ms and is saved so many steps.
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
  EXPECT_EQ(waits, 7);  // of 3 ms, from 20 ms
}

}  // namespace
}  // namespace slipstream
