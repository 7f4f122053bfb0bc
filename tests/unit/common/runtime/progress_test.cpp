#include "common/runtime/progress.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

using namespace std::chrono_literals;

TEST(Progress, CountsFromTheNewestTurn) {
  Progress progress;
  EXPECT_EQ(progress.standstill(3s).loop, 3s);
  progress.turned(3s);
  EXPECT_EQ(progress.standstill(3500ms).loop, 500ms);
}

TEST(Progress, CountsAJobUntilItEnds) {
  Progress progress;
  EXPECT_EQ(progress.standstill(9s).job, 0s) << "no job has begun";
  progress.job_began(2s);
  progress.turned(9s);
  EXPECT_EQ(progress.standstill(9s).job, 7s);
  progress.job_ended();
  EXPECT_EQ(progress.standstill(9s).job, 0s);
}

TEST(Progress, IsNeverNegative) {
  Progress progress;
  progress.turned(5s);
  EXPECT_EQ(progress.standstill(4s).loop, 0s) << "the clock was read before the turn was noted";
}

}  // namespace
}  // namespace slipstream
