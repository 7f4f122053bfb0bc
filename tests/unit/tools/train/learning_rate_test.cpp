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

TEST(LearningRate, IsDefinedForTrainingsThatOnlyWarmUpOrHaveOneStep) {
  EXPECT_DOUBLE_EQ(learning_rate({.peak = 1.0, .warmup_steps = 10, .steps = 5}, 4), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate({.peak = 1.0, .warmup_steps = 0, .steps = 1}, 0), 1.0);
}

}  // namespace
}  // namespace slipstream::train
