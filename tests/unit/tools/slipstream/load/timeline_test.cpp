#include "tools/slipstream/load/timeline.h"

#include <numeric>

#include <gtest/gtest.h>

namespace slipstream::command::load {
namespace {

using std::chrono::milliseconds;

Sample answer(Offset scheduled) {
  Sample sample;
  sample.ending = Ending::complete;
  sample.scheduled = sample.sent = scheduled;
  sample.chunks = {{scheduled + milliseconds(10), 1}, {scheduled + milliseconds(400), 2}};
  sample.ended = scheduled + milliseconds(400);
  return sample;
}

TEST(Timeline, PutsLatenciesWhereRequestsBeganAndTokensWhereTheyArrived) {
  Timeline timeline;
  timeline.add(answer(milliseconds(100)));  // windows of 250 ms; its second chunk is in the third
  ASSERT_EQ(timeline.windows().size(), 3u);
  EXPECT_EQ(timeline.windows()[0].scheduled, 1u);
  EXPECT_EQ(timeline.windows()[0].tokens, 1u);
  EXPECT_EQ(timeline.windows()[0].ttft.mean(), milliseconds(10));
  EXPECT_EQ(timeline.windows()[2].tokens, 2u);
  EXPECT_TRUE(timeline.windows()[2].ttft.empty());
}

TEST(Timeline, OfAWeekHasNoMoreWindowsThanItsLimitAndLosesNothing) {
  Timeline timeline;
  constexpr int kAnswers = 7 * 24 * 60;
  for (int minute = 0; minute < kAnswers; ++minute) timeline.add(answer(std::chrono::minutes(minute)));
  EXPECT_LE(timeline.windows().size(), kWindowsMax);
  EXPECT_GT(timeline.windows().size(), kWindowsMax / 2);
  uint64_t tokens = 0, answers = 0;
  for (const Window& window : timeline.windows()) {
    tokens += window.tokens;
    answers += window.e2e.count();
  }
  EXPECT_EQ(tokens, 3u * kAnswers);
  EXPECT_EQ(answers, static_cast<uint64_t>(kAnswers));
}

TEST(Timeline, CountsFailuresButNotWhatTheRunItselfCut) {
  Timeline timeline;
  Sample failed, cut;
  failed.ending = Ending::refused_429;
  timeline.add(failed);
  timeline.add(cut);
  EXPECT_EQ(timeline.windows()[0].scheduled, 2u);
  EXPECT_EQ(timeline.windows()[0].failed, 1u);
}

}  // namespace
}  // namespace slipstream::command::load
