#include "kernels/exact/exp_fixed.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(ExpFixed, OfZeroIsOne) { EXPECT_EQ(exp_fixed(0), uint64_t{1} << 44); }

TEST(ExpFixed, IsTheExponentialWithinTwo) {
  std::mt19937_64 random(10);
  for (int i = 0; i < 300'000; ++i) {
    const double x = -40.0 * std::pow(static_cast<double>(random() >> 11) * 0x1p-53, 2);
    ASSERT_NEAR(static_cast<double>(exp_fixed(x)), static_cast<double>(std::exp(static_cast<long double>(x)) * 0x1p44L), 2);
  }
}

TEST(ExpFixed, VanishesFarBelow) {
  for (double x : {-32.0, -40.0, -745.0, -1e300, -HUGE_VAL}) EXPECT_EQ(exp_fixed(x), 0u) << x;
}

}  // namespace
}  // namespace slipstream
