#include "tools/statistics/chi_square.h"

#include <array>

#include <gtest/gtest.h>

namespace slipstream::statistics {
namespace {

TEST(ChiSquare, PutsRareCellsTogether) {
  const std::array<double, 5> observed{50, 43, 3, 3, 1};
  const std::array<double, 5> expected{48, 46, 3, 2, 1};
  const ChiSquare test = chi_square(observed, expected);
  EXPECT_EQ(test.degrees, 2);
  EXPECT_NEAR(test.statistic, 4.0 / 48 + 9.0 / 46 + 1.0 / 6, 1e-12);
}

// One draw where a thousandth of one is expected would be worth a thousand by itself.
TEST(ChiSquare, PutsRareCellsWithTheLeastOtherWhereTogetherTheyAreRare) {
  const std::array<double, 4> observed{60, 39, 1, 0};
  const std::array<double, 4> expected{59.998, 40, 0.001, 0.001};
  const ChiSquare test = chi_square(observed, expected);
  EXPECT_EQ(test.degrees, 1);
  EXPECT_NEAR(test.statistic, 0.002 * 0.002 / 59.998 + 0.002 * 0.002 / 40.002, 1e-12);
  EXPECT_NEAR(power(std::array{0.6, 0.39, 0.01}, std::array{0.6, 0.38, 0.02}, 100, 1e-4), 1e-4, 1e-9);
}

TEST(ChiSquare, ComparesNothingWhereAllCellsAreRare) {
  EXPECT_EQ(chi_square(std::array<double, 2>{3, 0}, std::array<double, 2>{1, 2}).degrees, 0);
}

// Even beside rare ones, which it is not put together with.
TEST(ChiSquare, FindsASingleTokenThatCannotBe) {
  const std::array<double, 3> expected{500, 500, 0};
  EXPECT_GT(chi_square(std::array<double, 3>{505, 495, 0}, expected).p_value, 0.5);
  EXPECT_EQ(chi_square(std::array<double, 3>{505, 494, 1}, expected).p_value, 0);
  EXPECT_EQ(chi_square(std::array<double, 4>{505, 490, 4, 1}, std::array<double, 4>{500, 496, 4, 0}).p_value, 0);
  EXPECT_EQ(power(std::array<double, 3>{0.5, 0.5, 0}, std::array<double, 3>{0.5, 0.49, 0.01}, 1000, 1e-4), 1);
}

TEST(ChiSquare, PowerIsThatOfTheCellsThatAreTested) {
  const std::array<double, 4> distribution{0.5, 0.5, 0, 0}, truth{0.52, 0.48, 0, 0};
  const std::array<double, 2> alone{0.5, 0.5}, other{0.52, 0.48};
  EXPECT_DOUBLE_EQ(power(distribution, truth, 1e4, 1e-4), power(alone, other, 1e4, 1e-4));
}

TEST(ChiSquare, PowerGrowsWithTheError) {
  const std::array<double, 4> distribution{0.25, 0.25, 0.25, 0.25};
  const std::array<double, 4> near{0.255, 0.245, 0.25, 0.25};
  const std::array<double, 4> far{0.27, 0.23, 0.25, 0.25};
  EXPECT_NEAR(power(distribution, distribution, 1e5, 1e-4), 1e-4, 1e-9);
  EXPECT_GT(power(distribution, far, 1e5, 1e-4), power(distribution, near, 1e5, 1e-4));
  EXPECT_GT(power(distribution, far, 1e5, 1e-4), 0.999);
}

}  // namespace
}  // namespace slipstream::statistics
