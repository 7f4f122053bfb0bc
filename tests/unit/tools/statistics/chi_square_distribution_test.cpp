#include "tools/statistics/chi_square_distribution.h"

#include <cmath>

#include <gtest/gtest.h>

namespace slipstream::statistics {
namespace {

TEST(ChiSquareDistribution, TailMatchesTheTables) {
  EXPECT_NEAR(chi_square_tail(3.841459, 1), 0.05, 1e-6);
  EXPECT_NEAR(chi_square_tail(18.307038, 10), 0.05, 1e-6);
  EXPECT_NEAR(chi_square_tail(149.449, 100), 0.001, 1e-6);
  EXPECT_NEAR(chi_square_tail(0.5, 10), 0.999996, 1e-5);
}

TEST(ChiSquareDistribution, TailOfTwoDegreesIsAnExponential) {
  for (double x : {0.1, 1.0, 10.0, 100.0, 600.0}) EXPECT_NEAR(chi_square_tail(x, 2) / std::exp(-x / 2), 1, 1e-11) << x;
}

TEST(ChiSquareDistribution, CriticalValueInvertsTheTail) {
  for (int degrees : {1, 7, 63, 500}) {
    for (double alpha : {0.05, 1e-4, 1e-9}) {
      EXPECT_NEAR(chi_square_tail(critical_value(degrees, alpha), degrees) / alpha, 1, 1e-9) << degrees << " " << alpha;
    }
  }
}

// One degree: the square of a normal variable of mean sqrt(noncentrality).
TEST(ChiSquareDistribution, NoncentralTailOfOneDegreeIsTwoNormalTails) {
  const auto normal_tail = [](double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); };
  for (double noncentrality : {0.5, 4.0, 30.0, 400.0}) {
    for (double x : {0.3, 4.0, 50.0, 420.0}) {
      const double mean = std::sqrt(noncentrality), root = std::sqrt(x);
      const double expected = normal_tail(root - mean) + normal_tail(root + mean);
      EXPECT_NEAR(noncentral_tail(x, 1, noncentrality), expected, 1e-12 + 1e-9 * expected) << noncentrality << " " << x;
    }
  }
}

// Cohen, Statistical Power Analysis, table 8.3: power 0.95 at level 0.05.
TEST(ChiSquareDistribution, NoncentralityMatchesTheTables) {
  EXPECT_NEAR(noncentrality_for(1, 0.05, 0.95), 12.99, 0.01);
  EXPECT_NEAR(noncentrality_for(5, 0.05, 0.95), 19.78, 0.01);
  EXPECT_NEAR(noncentrality_for(10, 0.05, 0.95), 24.39, 0.02);
}

}  // namespace
}  // namespace slipstream::statistics
