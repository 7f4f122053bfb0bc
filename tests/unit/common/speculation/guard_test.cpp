#include "common/speculation/guard.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "common/base/limits.h"

namespace slipstream {
namespace {

struct Useless {
  int verified = 8;
  bool late = false;
};

// Runs steps of a drafter of this kind; returns 'd' for each step with a draft and '.' for each plain one.
std::string run(DraftGuard& guard, int steps, Useless drafter) {
  std::string log;
  for (int i = 0; i < steps; ++i) {
    if (guard.wants_draft()) {
      guard.drafted_step(drafter.verified, 0, drafter.late);
      log += 'd';
    } else {
      guard.plain_step();
      log += '.';
    }
  }
  return log;
}

TEST(DraftGuard, AsksForDraftsAtFirst) { EXPECT_TRUE(DraftGuard().wants_draft()); }

TEST(DraftGuard, BetsMoreAsMoreIsAcceptedAndLessWhenNothingIs) {
  DraftGuard guard;
  EXPECT_EQ(guard.nodes_max(), kFirstNodes);
  guard.drafted_step(3, 3, false);
  guard.drafted_step(6, 2, false);
  EXPECT_EQ(guard.nodes_max(), 12);
  guard.drafted_step(12, 2, false);  // too little to double, too much to halve
  EXPECT_EQ(guard.nodes_max(), 12);
  guard.drafted_step(12, 0, false);
  EXPECT_EQ(guard.nodes_max(), 6);
  for (int step = 0; step < 10; ++step) guard.drafted_step(6, 0, false);
  EXPECT_EQ(guard.nodes_max(), kFirstNodes);
  for (int step = 0; step < 10; ++step) guard.drafted_step(guard.nodes_max(), guard.nodes_max(), false);
  EXPECT_EQ(guard.nodes_max(), kTreeNodesMax);
}

TEST(DraftGuard, BacksOffExponentiallyAfterTwoFailures) {
  DraftGuard guard;
  EXPECT_EQ(run(guard, 32, {}), "dd....d........d................");
}

TEST(DraftGuard, ProbesAtMostOneStepInFiftyInTheEnd) {
  DraftGuard guard;
  run(guard, 200, {});
  const std::string log = run(guard, 6500, {});
  EXPECT_EQ(std::ranges::count(log, 'd'), 100);
}

TEST(DraftGuard, CountsLateTreesAsFailures) {
  DraftGuard guard;
  EXPECT_EQ(run(guard, 7, {.verified = 0, .late = true}), "dd....d");
}

TEST(DraftGuard, DoesNotBackOffFromTimelyEmptyTrees) {
  DraftGuard guard;
  EXPECT_EQ(run(guard, 7, {.verified = 0}), "ddddddd");
}

TEST(DraftGuard, AsksLessAndLessOftenForWhatIsAlwaysEmptyButGently) {
  DraftGuard guard;
  EXPECT_EQ(run(guard, 16, {.verified = 0}), "dddddddddddddddd");
  EXPECT_EQ(run(guard, 6, {.verified = 0}), ".d.d.d");
  const std::string later = run(guard, 1000, {.verified = 0});
  EXPECT_EQ(later.substr(later.size() - 34), run(guard, 34, {.verified = 0}));
  EXPECT_EQ(std::ranges::count(run(guard, 17 * 20, {.verified = 0}), 'd'), 20) << "one in seventeen in the end";
}

TEST(DraftGuard, OneGuessEndsTheGapOfEmptyTrees) {
  DraftGuard guard;
  run(guard, 1000, {.verified = 0});
  while (!guard.wants_draft()) guard.plain_step();
  guard.drafted_step(3, 1, false);
  EXPECT_EQ(run(guard, 16, {.verified = 0}), "dddddddddddddddd");
}

TEST(DraftGuard, KeepsItsGapOnTimelyEmptyTrees) {
  DraftGuard guard;
  run(guard, 6, {});
  EXPECT_EQ(run(guard, 10, {.verified = 0}), "d....d....");
}

TEST(DraftGuard, OneFailureBetweenSuccessesIsForgiven) {
  DraftGuard guard;
  for (int i = 0; i < 10; ++i) {
    guard.drafted_step(4, 0, false);
    EXPECT_TRUE(guard.wants_draft());
    guard.drafted_step(4, 1, false);
    EXPECT_TRUE(guard.wants_draft());
  }
}

TEST(DraftGuard, ReturnsWithinAFewStepsOnceDraftsHelpAgain) {
  DraftGuard guard;
  run(guard, 1000, {});
  while (!guard.wants_draft()) guard.plain_step();
  for (int i = 0; i < 5; ++i) {
    guard.drafted_step(4, 3, false);
    EXPECT_TRUE(guard.wants_draft());
  }
  EXPECT_EQ(run(guard, 6, {}), "dd....");
}

TEST(DraftGuard, ADrafterThatIsRightNowAndThenStaysRare) {
  DraftGuard guard;
  run(guard, 1000, {});
  while (!guard.wants_draft()) guard.plain_step();
  guard.drafted_step(8, 1, false);
  const std::string log = run(guard, 200, {});
  EXPECT_LE(std::ranges::count(log, 'd'), 8) << log;
}

TEST(DraftGuard, BetsNoMoreThanPaysForItself) {
  DraftGuard guard;
  for (int step = 0; step < 10; ++step) guard.drafted_step(guard.nodes_max(), guard.nodes_max(), false);
  guard.afford(5);
  EXPECT_EQ(guard.nodes_max(), 5);
  EXPECT_EQ(guard.ambition(), kTreeNodesMax);
  guard.afford(kTreeNodesMax);
  EXPECT_EQ(guard.nodes_max(), kTreeNodesMax);
}

TEST(DraftGuard, ProbesWithOneNodeNowAndThenWhereNothingPays) {
  DraftGuard guard;
  guard.afford(0);
  const std::string log = run(guard, 200, {.verified = 1});
  EXPECT_EQ(log.find('d'), static_cast<size_t>(kProbeGapSteps));
  EXPECT_LE(std::ranges::count(log, 'd'), 200 / kProbeGapSteps);
  EXPECT_EQ(guard.nodes_max(), 1);
}

}  // namespace
}  // namespace slipstream
