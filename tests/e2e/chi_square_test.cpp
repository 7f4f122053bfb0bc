#include "tests/e2e/chi_square.h"

#include <array>

#include <gtest/gtest.h>

namespace slipstream::e2e {
namespace {

TEST(ChiSquare, TailMatchesTheTables) {
  EXPECT_NEAR(chi_square_tail(3.841459, 1), 0.05, 1e-6);
  EXPECT_NEAR(chi_square_tail(18.307038, 10), 0.05, 1e-6);
  EXPECT_NEAR(chi_square_tail(149.449, 100), 0.001, 1e-6);
  EXPECT_NEAR(chi_square_tail(0.5, 10), 0.999996, 1e-5);
}

TEST(ChiSquare, PutsRareCellsTogether) {
  const std::array<double, 5> observed{50, 46, 1, 2, 1};
  const std::array<double, 5> expected{48, 48, 2, 1, 1};
  const ChiSquare test = chi_square(observed, expected);
  EXPECT_EQ(test.degrees, 2);
  EXPECT_NEAR(test.statistic, 4.0 / 48 + 4.0 / 48 + 0, 1e-12);
}

TEST(ChiSquare, PowerGrowsWithTheError) {
  const std::array<double, 4> law{0.25, 0.25, 0.25, 0.25};
  const std::array<double, 4> near{0.255, 0.245, 0.25, 0.25};
  const std::array<double, 4> far{0.27, 0.23, 0.25, 0.25};
  EXPECT_NEAR(power(law, law, 1e5, 1e-4), 0, 0.01);
  EXPECT_GT(power(law, far, 1e5, 1e-4), power(law, near, 1e5, 1e-4));
  EXPECT_GT(power(law, far, 1e5, 1e-4), 0.999);
}

}  // namespace
}  // namespace slipstream::e2e
