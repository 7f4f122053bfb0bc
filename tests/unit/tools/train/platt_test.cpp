#include "tools/train/platt.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace slipstream::train {
namespace {

TEST(Platt, FindsTheLineThatOutcomesWereDrawnBy) {
  std::mt19937 dice(3);
  std::uniform_real_distribution<float> anywhere(-4, 4), chance(0, 1);
  std::vector<float> logits, seen;
  for (int i = 0; i < 50'000; ++i) {
    logits.push_back(anywhere(dice));
    seen.push_back(chance(dice) < 1 / (1 + std::exp(-(0.5F * logits.back() - 0.7F))) ? 1.0F : 0.0F);
  }
  const PlattLine line = fit_platt(logits, seen);
  EXPECT_NEAR(line.slope, 0.5, 0.02);
  EXPECT_NEAR(line.offset, -0.7, 0.03);
}

// Whole steps of Newton's method run away here: all logits lie on one side and close together.
TEST(Platt, FindsTheLineAlsoFarFromWhereItBegins) {
  std::mt19937 dice(3);
  std::uniform_real_distribution<float> anywhere(1.7F, 1.9F), chance(0, 1);
  std::vector<float> logits, seen;
  for (int i = 0; i < 50'000; ++i) {
    logits.push_back(anywhere(dice));
    seen.push_back(chance(dice) < 1 / (1 + std::exp(-(30 * (logits.back() - 1.8F) - 2))) ? 1.0F : 0.0F);
  }
  const PlattLine line = fit_platt(logits, seen);
  EXPECT_NEAR(line.slope, 30, 1.5);
  EXPECT_NEAR(line.slope * 1.8 + line.offset, -2, 0.1);
}

TEST(Platt, IsFiniteWhereOneOutcomeIsNeverSeen) {
  const PlattLine line = fit_platt(std::vector<float>{-1, 0, 1, 2}, std::vector<float>{1, 1, 1, 1});
  EXPECT_TRUE(std::isfinite(line.slope));
  EXPECT_GT(line.offset, 2);
}

}  // namespace
}  // namespace slipstream::train
