#include "tools/train/learning_rate.h"

#include <gtest/gtest.h>

namespace slipstream::train {
namespace {

constexpr Schedule kSchedule{.peak = 1.0, .warmup_steps = 4, .steps = 25, .floor_share = 0.1};

TEST(LearningRate, RisesLinearlyToThePeak) {
  EXPECT_DOUBLE_EQ(learning_rate(kSchedule, 0), 0.25);
  EXPECT_DOUBLE_EQ(learning_rate(kSchedule, 3), 1.0);
}

TEST(LearningRate, FallsAsHalfACosineToItsFloor) {
  EXPECT_DOUBLE_EQ(learning_rate(kSchedule, 4), 1.0);
  EXPECT_DOUBLE_EQ(learning_rate(kSchedule, 14), 0.55);  // in the middle, halfway between peak and floor
  EXPECT_DOUBLE_EQ(learning_rate(kSchedule, 24), 0.1);
}

TEST(LearningRate, OfATimeStaysAtThePeakAndFallsOverItsLastShare) {
  EXPECT_DOUBLE_EQ(learning_rate_by_time(kSchedule, 1, 0), 0.5);  // still warming up
  EXPECT_DOUBLE_EQ(learning_rate_by_time(kSchedule, 9, 0), 1.0);
  EXPECT_DOUBLE_EQ(learning_rate_by_time(kSchedule, 9, 1 - kFallingShare), 1.0);
  EXPECT_DOUBLE_EQ(learning_rate_by_time(kSchedule, 9, 1 - kFallingShare / 2), 0.55);
  EXPECT_DOUBLE_EQ(learning_rate_by_time(kSchedule, 9, 1), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate_by_time(kSchedule, 9, 1.5), 0.1);  // a step that began in time
  EXPECT_DOUBLE_EQ(learning_rate_by_time(kSchedule, 2, 1), 0.1);    // the time was over before the warm-up
}

TEST(LearningRate, IsDefinedForTrainingsThatOnlyWarmUpOrHaveOneStep) {
  EXPECT_DOUBLE_EQ(learning_rate({.peak = 1.0, .warmup_steps = 10, .steps = 5}, 4), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate({.peak = 1.0, .warmup_steps = 0, .steps = 1}, 0), 1.0);
}

}  // namespace
}  // namespace slipstream::train
