#include "common/sampling/fixed_weight.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(FixedWeight, OfTheHighestLogitIsOne) { EXPECT_EQ(fixed_weight(0), uint64_t{1} << 44); }

TEST(FixedWeight, IsTheExponentialWithinTwo) {
  std::mt19937_64 random(10);
  for (int i = 0; i < 300'000; ++i) {
    const double x = -40.0 * std::pow(static_cast<double>(random() >> 11) * 0x1p-53, 2);
    ASSERT_NEAR(static_cast<double>(fixed_weight(x)), static_cast<double>(std::exp(static_cast<long double>(x)) * 0x1p44L), 2);
  }
}

TEST(FixedWeight, VanishesFarBelow) {
  for (double x : {-32.0, -40.0, -745.0, -1e300, -HUGE_VAL}) EXPECT_EQ(fixed_weight(x), 0u) << x;
}

}  // namespace
}  // namespace slipstream
