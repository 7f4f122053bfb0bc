#include "common/speculation/calibration.h"

#include <random>

#include <gtest/gtest.h>

#include "common/speculation/reliability.h"

namespace slipstream {
namespace {

TEST(Calibration, BelievesADrafterAtFirst) {
  const Calibration calibration;
  for (const float survival : {0.0F, 0.02F, 0.3F, 0.5F, 0.85F, 0.95F}) {
    for (const int depth : {1, 3, 20}) EXPECT_NEAR(calibration.chance(survival, depth), survival, 1e-6);
  }
  EXPECT_NEAR(calibration.chance(1, 1), 0.95, 1e-6) << "nothing is certain";
}

TEST(Calibration, FindsOutThatADrafterLies) {
  Calibration calibration;
  for (int node = 0; node < 20; ++node) calibration.verified(1, 1, false);
  EXPECT_LT(calibration.chance(1, 1), 0.4);
  for (int node = 0; node < 200; ++node) calibration.verified(1, 1, false);
  EXPECT_LT(calibration.chance(1, 1), 0.1);
  EXPECT_LT(calibration.chance(0.5, 1), 0.1) << "what it is less sure of is no better";
}

TEST(Calibration, ForgetsWhatADrafterWas) {
  Calibration calibration;
  for (int node = 0; node < 5000; ++node) calibration.verified(0.55F, 1, false);
  for (int node = 0; node < 1000; ++node) calibration.verified(0.55F, 1, true);
  EXPECT_GT(calibration.chance(0.55F, 1), 0.8);
}

// Its few nodes at depth 3 were unlucky, so none is verified there any more.
TEST(Calibration, ComesBackToWhatItCannotSee) {
  Calibration calibration;
  for (int i = 0; i < 8; ++i) calibration.verified(.95F, 3, false);
  const float poor = calibration.chance(.95F, 3);
  EXPECT_LT(poor, .5F);
  for (int i = 0; i < 10 * kFadeEvery; ++i) calibration.verified(.95F, 1, true);
  EXPECT_GT(calibration.chance(.95F, 3), poor + .05F) << "after some hundreds of others";
  for (int i = 0; i < 90 * kFadeEvery; ++i) calibration.verified(.95F, 1, true);
  EXPECT_GT(calibration.chance(.95F, 3), .8F) << "after thousands it is as the drafter says";
}

TEST(Calibration, RisesWithTheSurvivalWhateverHappened) {
  std::mt19937 dice(7);
  std::uniform_real_distribution<float> uniform(0, 1);
  Calibration calibration;
  for (int node = 0; node < 3000; ++node) {
    const float survival = uniform(dice);
    calibration.verified(survival, 1 + node % 9, uniform(dice) > survival);  // the opposite of what it says
    if (node % 100 != 0) continue;
    for (int depth = 1; depth < 10; ++depth) {
      for (float at = 0; at < 1; at += 0.01F) {
        ASSERT_LE(calibration.chance(at, depth), calibration.chance(at + 0.01F, depth) + 1e-6F) << at << " at depth " << depth;
      }
    }
  }
}

// Survival s is accepted with probability s^2: the curve that is found is close to that.
TEST(Calibration, FindsTheCurve) {
  std::mt19937 dice(7);
  std::uniform_real_distribution<float> uniform(0, 1);
  Calibration calibration;
  Reliability reliability;
  for (int node = 0; node < 20'000; ++node) {
    const float survival = uniform(dice);
    const bool accepted = uniform(dice) < survival * survival;
    if (node >= 200) reliability.verified(calibration.chance(survival, 1), accepted);
    calibration.verified(survival, 1, accepted);
  }
  for (const float survival : {0.25F, 0.5F, 0.75F, 0.95F}) {
    EXPECT_NEAR(calibration.chance(survival, 1), survival * survival, 0.08) << survival;
  }
  EXPECT_LT(reliability.error(), 0.05);
}

TEST(Calibration, KeepsDepthsApartOnceEachHasNodes) {
  Calibration calibration;
  for (int node = 0; node < 100; ++node) calibration.verified(0.65F, 6, false);
  EXPECT_LT(calibration.chance(0.65F, 5), 0.2);
  for (int node = 0; node < 20; ++node) calibration.verified(0.65F, 1, true);
  EXPECT_GT(calibration.chance(0.65F, 1), 0.85);
  EXPECT_LT(calibration.chance(0.65F, 5), 0.2);
}

TEST(Calibration, SaysWhichSurvivalHasAChance) {
  Calibration calibration;
  for (int node = 0; node < 300; ++node) calibration.verified(0.55F, 1, node % 5 == 0);
  for (const float chance : {0.01F, 0.1F, 0.3F, 0.6F}) {
    const float survival = calibration.survival_of(chance);
    EXPECT_NEAR(calibration.chance(survival, 1), chance, 0.01) << chance;
  }
  EXPECT_GT(calibration.survival_of(0.99F), 1);
}

// Nodes of all depths and survivals, of a drafter that says too little: few in each cell, and they
// fade as fast as they come.
TEST(Calibration, GoesOnBelievingNoDrafterThatSaysTooLittleWhereItsNodesAreFew) {
  std::mt19937 dice(7);
  std::uniform_real_distribution<float> uniform(0, 1);
  Calibration calibration;
  double expected = 0, accepted = 0;
  constexpr int kLearnt = 2'000, kMeasured = 20'000;
  for (int node = 0; node < kLearnt + kMeasured; ++node) {
    const float survival = 0.05F + 0.95F * uniform(dice);
    const int depth = 1 + node % 12;
    const bool right = uniform(dice) < 0.6F + 0.4F * survival;
    if (node >= kLearnt) {
      expected += calibration.chance(survival, depth);
      accepted += right ? 1 : 0;
    }
    calibration.verified(survival, depth, right);
  }
  EXPECT_NEAR(expected / kMeasured, accepted / kMeasured, 0.01);
}

}  // namespace
}  // namespace slipstream
