#include "common/statistics/chi_square.h"

#include <array>

#include <gtest/gtest.h>

namespace slipstream::statistics {
namespace {

TEST(ChiSquare, PutsRareCellsTogether) {
  const std::array<double, 5> observed{50, 46, 1, 2, 1};
  const std::array<double, 5> expected{48, 48, 2, 1, 1};
  const ChiSquare test = chi_square(observed, expected);
  EXPECT_EQ(test.degrees, 2);
  EXPECT_NEAR(test.statistic, 4.0 / 48 + 4.0 / 48 + 0, 1e-12);
}

TEST(ChiSquare, FindsASingleTokenThatCannotBe) {
  const std::array<double, 3> expected{500, 500, 0};
  EXPECT_GT(chi_square(std::array<double, 3>{505, 495, 0}, expected).p_value, 0.5);
  EXPECT_EQ(chi_square(std::array<double, 3>{505, 494, 1}, expected).p_value, 0);
  EXPECT_EQ(power(std::array<double, 3>{0.5, 0.5, 0}, std::array<double, 3>{0.5, 0.49, 0.01}, 1000, 1e-4), 1);
}

TEST(ChiSquare, PowerIsThatOfTheCellsThatAreTested) {
  const std::array<double, 4> law{0.5, 0.5, 0, 0}, truth{0.52, 0.48, 0, 0};
  const std::array<double, 2> alone{0.5, 0.5}, other{0.52, 0.48};
  EXPECT_DOUBLE_EQ(power(law, truth, 1e4, 1e-4), power(alone, other, 1e4, 1e-4));
}

TEST(ChiSquare, PowerGrowsWithTheError) {
  const std::array<double, 4> law{0.25, 0.25, 0.25, 0.25};
  const std::array<double, 4> near{0.255, 0.245, 0.25, 0.25};
  const std::array<double, 4> far{0.27, 0.23, 0.25, 0.25};
  EXPECT_NEAR(power(law, law, 1e5, 1e-4), 1e-4, 1e-9);
  EXPECT_GT(power(law, far, 1e5, 1e-4), power(law, near, 1e5, 1e-4));
  EXPECT_GT(power(law, far, 1e5, 1e-4), 0.999);
}

}  // namespace
}  // namespace slipstream::statistics
