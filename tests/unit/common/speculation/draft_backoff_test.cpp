#include "common/speculation/draft_backoff.h"

#include <algorithm>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "common/base/limits.h"

namespace slipstream {
namespace {

constexpr double kPrice = 0.3;  // tokens a node

struct Useless {
  int verified = 8;
  bool late = false;
};

// Runs steps of a drafter of this kind; returns 'd' for each step with a draft and '.' for each
// plain one.
std::string run(DraftBackoff& backoff, int steps, Useless drafter) {
  std::string log;
  for (int i = 0; i < steps; ++i) {
    if (backoff.rest() == DraftRest::none) {
      backoff.drafted_step(drafter.verified, 0, drafter.late, kPrice);
      log += 'd';
    } else {
      backoff.plain_step();
      log += '.';
    }
  }
  return log;
}

TEST(DraftBackoff, AsksForDraftsAtFirst) { EXPECT_EQ(DraftBackoff().rest(), DraftRest::none); }

TEST(DraftBackoff, AsksForMoreNodesAsMoreAreAcceptedAndFewerWhenNoneIs) {
  DraftBackoff backoff;
  EXPECT_EQ(backoff.nodes_max(), kFirstNodes);
  backoff.drafted_step(3, 3, false, kPrice);
  backoff.drafted_step(6, 2, false, kPrice);
  EXPECT_EQ(backoff.nodes_max(), 12);
  backoff.drafted_step(12, 2, false, kPrice);  // too little to double, too much to halve
  EXPECT_EQ(backoff.nodes_max(), 12);
  backoff.drafted_step(12, 0, false, kPrice);
  EXPECT_EQ(backoff.nodes_max(), 6);
  for (int step = 0; step < 10; ++step) backoff.drafted_step(6, 0, false, kPrice);
  EXPECT_EQ(backoff.nodes_max(), kFirstNodes);
  for (int step = 0; step < 10; ++step) backoff.drafted_step(backoff.nodes_max(), backoff.nodes_max(), false, kPrice);
  EXPECT_EQ(backoff.nodes_max(), kTreeNodesMax);
}

TEST(DraftBackoff, BacksOffExponentiallyAfterTwoFailures) {
  DraftBackoff backoff;
  EXPECT_EQ(run(backoff, 32, {}), "dd....d........d................");
}

TEST(DraftBackoff, ProbesAtMostOneStepInFiftyInTheEnd) {
  DraftBackoff backoff;
  run(backoff, 200, {});
  const std::string log = run(backoff, 6500, {});
  EXPECT_EQ(std::ranges::count(log, 'd'), 100);
}

TEST(DraftBackoff, CountsLateTreesAsFailures) {
  DraftBackoff backoff;
  EXPECT_EQ(run(backoff, 7, {.verified = 0, .late = true}), "dd....d");
}

TEST(DraftBackoff, DoesNotBackOffFromTimelyEmptyTrees) {
  DraftBackoff backoff;
  EXPECT_EQ(run(backoff, 7, {.verified = 0}), "ddddddd");
}

TEST(DraftBackoff, AsksLessAndLessOftenForWhatIsAlwaysEmptyButGently) {
  DraftBackoff backoff;
  EXPECT_EQ(run(backoff, 16, {.verified = 0}), "dddddddddddddddd");
  EXPECT_EQ(run(backoff, 6, {.verified = 0}), ".d.d.d");
  const std::string later = run(backoff, 1000, {.verified = 0});
  EXPECT_EQ(later.substr(later.size() - 34), run(backoff, 34, {.verified = 0}));
  EXPECT_EQ(std::ranges::count(run(backoff, 17 * 20, {.verified = 0}), 'd'), 20) << "one in seventeen in the end";
}

TEST(DraftBackoff, OneGuessEndsTheGapOfEmptyTrees) {
  DraftBackoff backoff;
  run(backoff, 1000, {.verified = 0});
  while (backoff.rest() != DraftRest::none) backoff.plain_step();
  backoff.drafted_step(3, 1, false, kPrice);
  EXPECT_EQ(run(backoff, 16, {.verified = 0}), "dddddddddddddddd");
}

// A probe once ended the gap whatever it brought, so that each was followed by sixteen asks.
TEST(DraftBackoff, AWrongGuessDoesNotEndTheGapOfEmptyTrees) {
  DraftBackoff backoff;
  run(backoff, 1000, {.verified = 0});
  while (backoff.rest() != DraftRest::none) backoff.plain_step();
  backoff.drafted_step(1, 0, false, kPrice);
  EXPECT_EQ(run(backoff, 17 * 2, {.verified = 0}), "................d................d");
}

TEST(DraftBackoff, OneThatBroughtNothingElsewhereBeginsRareAndStaysSoHoweverItFails) {
  for (const Useless& how : {Useless{.verified = 0}, Useless{.verified = 1}, Useless{.verified = 0, .late = true}}) {
    DraftBackoff backoff = DraftBackoff::rare();
    const std::string log = run(backoff, 17 * 8, how);
    EXPECT_TRUE(log.starts_with("................d................d")) << log;
    EXPECT_LE(std::ranges::count(log, 'd'), 8) << log;
  }
}

TEST(DraftBackoff, OneThatBeginsRareGoesOnWithTheGapOfOthers) {
  for (const auto& [steps_ago, rests] : {std::pair(3, 13), {16, 0}, {900, 0}}) {
    DraftBackoff backoff = DraftBackoff::rare(steps_ago);
    EXPECT_EQ(run(backoff, rests + 17, {.verified = 0}), std::string(static_cast<size_t>(rests), '.') + "d................");
  }
}

TEST(DraftBackoff, OneThatBeganRareIsAskedAtOnceWhenAGuessOfItIsRight) {
  DraftBackoff backoff = DraftBackoff::rare();
  while (backoff.rest() != DraftRest::none) backoff.plain_step();
  backoff.drafted_step(1, 1, false, kPrice);
  EXPECT_EQ(run(backoff, 3, {.verified = 0}), "ddd");
}

TEST(DraftBackoff, KeepsItsGapOnTimelyEmptyTrees) {
  DraftBackoff backoff;
  run(backoff, 6, {});
  EXPECT_EQ(run(backoff, 10, {.verified = 0}), "d....d....");
}

TEST(DraftBackoff, ForgivesFailuresThatSuccessesPayFor) {
  DraftBackoff backoff;
  for (int i = 0; i < 100; ++i) {
    backoff.drafted_step(4, 0, false, kPrice);
    EXPECT_EQ(backoff.rest(), DraftRest::none);
    backoff.drafted_step(4, 3, false, kPrice);
    EXPECT_EQ(backoff.rest(), DraftRest::none);
  }
}

TEST(DraftBackoff, BacksOffFromGuessesThatCostMoreThanTheyWin) {
  DraftBackoff backoff;
  std::string log;
  for (int i = 0; i < 300; ++i) {
    const bool drafts = backoff.rest() == DraftRest::none;
    if (drafts) {
      backoff.drafted_step(8, i % 2, false, kPrice);  // wins half a token for 2.4
    } else {
      backoff.plain_step();
    }
    log += drafts ? 'd' : '.';
  }
  EXPECT_LE(std::ranges::count(log, 'd'), 60) << log;
}

TEST(DraftBackoff, BacksOffFromFreeGuessesThatNeverWin) {
  DraftBackoff backoff;
  for (int i = 0; i < kFruitlessMost + 1; ++i) backoff.drafted_step(8, 0, false, 0);
  EXPECT_NE(backoff.rest(), DraftRest::none);
}

TEST(DraftBackoff, ReturnsWithinAFewStepsOnceDraftsHelpAgain) {
  DraftBackoff backoff;
  run(backoff, 1000, {});
  while (backoff.rest() != DraftRest::none) backoff.plain_step();
  for (int i = 0; i < 5; ++i) {
    backoff.drafted_step(4, 3, false, kPrice);
    EXPECT_EQ(backoff.rest(), DraftRest::none);
  }
  EXPECT_EQ(run(backoff, 7, {}), "ddd....") << "what they won pays for one failure";
}

TEST(DraftBackoff, ADrafterThatIsRightNowAndThenStaysRare) {
  DraftBackoff backoff;
  run(backoff, 1000, {});
  while (backoff.rest() != DraftRest::none) backoff.plain_step();
  backoff.drafted_step(8, 1, false, kPrice);
  const std::string log = run(backoff, 200, {});
  EXPECT_LE(std::ranges::count(log, 'd'), 8) << log;
}

TEST(DraftBackoff, AsksForNoMoreNodesThanPayForThemselves) {
  DraftBackoff backoff;
  for (int step = 0; step < 10; ++step) backoff.drafted_step(backoff.nodes_max(), backoff.nodes_max(), false, kPrice);
  backoff.set_row_budget(5);
  EXPECT_EQ(backoff.nodes_max(), 5);
  EXPECT_EQ(backoff.nodes_cap(), kTreeNodesMax);
  backoff.set_row_budget(kTreeNodesMax);
  EXPECT_EQ(backoff.nodes_max(), kTreeNodesMax);
}

TEST(DraftBackoff, RestsWhereNothingPaysButForProbesOfOneNode) {
  DraftBackoff backoff;
  backoff.set_row_budget(0);
  for (int step = 0; step < 200; ++step) {
    EXPECT_EQ(backoff.rest(), DraftRest::nothing_pays);
    backoff.plain_step();
  }
  EXPECT_EQ(backoff.nodes_max(), 1);
  backoff.set_row_budget(1);
  EXPECT_EQ(backoff.rest(), DraftRest::none);
}

}  // namespace
}  // namespace slipstream
