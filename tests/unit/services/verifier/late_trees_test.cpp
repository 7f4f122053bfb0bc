#include "services/verifier/late_trees.h"

#include <gmock/gmock.h>

#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

// Rounds that asked for a tree, one after the other; how many lines it was worth.
int lines(LateTrees& late_trees, VerifierCounters& counters, int late, int timely, Time now = {}) {
  int lines = 0;
  counters.draft_kinds.resize(1);
  DraftKindCounters& kind = counters.draft_kinds.front();
  for (int i = 0; i < late + timely; ++i) {
    ++(i < late ? kind.missed_deadlines : kind.met_deadlines);
    lines += late_trees.look(counters, now) ? 1 : 0;
  }
  return lines;
}

TEST(LateTrees, AreWorthALineWhenMostOfAWindowCameTooLate) {
  LateTrees late_trees;
  VerifierCounters counters;
  EXPECT_EQ(lines(late_trees, counters, 11, 5), 0);
  EXPECT_EQ(lines(late_trees, counters, 12, 3), 0) << "a window has sixteen";
  counters.draft_kinds.front().met_deadlines += 1;
  const auto told = late_trees.look(counters, {});
  ASSERT_TRUE(told);
  EXPECT_EQ(told->late, 12U);
  EXPECT_EQ(told->asked, 16U);
}

TEST(LateTrees, AreNotToldAgainForTenMinutes) {
  LateTrees late_trees;
  VerifierCounters counters;
  EXPECT_EQ(lines(late_trees, counters, 160, 0), 1);
  EXPECT_EQ(lines(late_trees, counters, 160, 0, kBetweenLateLines - Time(1)), 0);
  EXPECT_EQ(lines(late_trees, counters, 16, 0, kBetweenLateLines), 1);
}

// A drafter that never answers.
class LateTreesTest : public VerifierStage {};

TEST_F(LateTreesTest, StandInTheLogWithWhatCanBeDone) {
  meet_drafter();
  std::string line;
  for (uint64_t id = 2; id < 400 && line.empty(); ++id) {
    Start start = second();
    start.sequence.counter = id;
    start.tokens = {1, 1, 1};
    stage.hears(kRouter, start);
    for (int step = 0; step < 4; ++step) {
      stage.waits(5ms);  // past the deadline
      ASSERT_FALSE(stage.rests());
      const StepPlan& plan = stage.runs().step;
      stage.finishes(StepOutput{.sampled_tokens = std::vector<TokenId>(plan.wanted.size(), 1)});
      stage.hears(kRouter, RouterHeartbeat{.router = 3});
    }
    while (!stage.idle<Note>()) {
      const Note note = stage.does<Note>();
      if (note.warning) line = note.text;
    }
    stage.hears(kRouter, Cancel{start.sequence, 1});
    stage.waits(5ms);
    if (!stage.rests()) stage.finishes(StepOutput{.sampled_tokens = std::vector<TokenId>(stage.runs().step.wanted.size(), 1)});
    stage.forget();
  }
  EXPECT_THAT(line, testing::HasSubstr("of the last 16 trees asked for came too late"));
  EXPECT_THAT(line, testing::HasSubstr("3 ms"));
  EXPECT_THAT(line, testing::HasSubstr("--deadline-us"));
  EXPECT_GE(verifier.counters().missed_deadlines(), 12U);
}

}  // namespace
}  // namespace slipstream
