#include "tools/slipstream/load/progress_line.h"

#include <gtest/gtest.h>

namespace slipstream::command::load {
namespace {

using std::chrono::seconds;

TEST(ProgressText, TellsTheSpeedSinceTheLookBefore) {
  const Progress before{.elapsed = seconds(10), .tokens = 1000};
  const Progress now{.elapsed = seconds(12), .in_flight = 8, .ended = 96, .complete = 96, .tokens = 1400};
  EXPECT_EQ(progress_text("8 streams", now, before), "8 streams  12.0 s  96 done  8 in flight  200 tokens/s");
}

TEST(ProgressText, TellsWhatGoesWrongOnlyIfSomethingDoes) {
  const Progress now{.elapsed = seconds(1), .ended = 5, .complete = 3, .late = 4};
  EXPECT_EQ(progress_text("1 stream", now, {}), "1 stream  1.0 s  3 done  2 failed  0 in flight  0 tokens/s  4 sent late");
}

TEST(ProgressText, HasASpeedOfZeroBeforeAnyTimeHasPassed) {
  EXPECT_EQ(progress_text("1 stream", {}, {}), "1 stream  0.0 s  0 done  0 in flight  0 tokens/s");
}

}  // namespace
}  // namespace slipstream::command::load
