#include "common/sampling/entropy.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(Entropy, IsThatOfTheDistributionAtTheTemperatureOfTheAnswers) {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  const auto alike = [](int count) { return std::log(static_cast<float>(count)); };
  EXPECT_NEAR(entropy_of(std::vector{7.0F, kNever, 7.0F, 7.0F}, 1), alike(3), 1e-6);
  EXPECT_EQ(entropy_of(std::vector{kNever, 2.0F}, 1), 0);
  const float two = std::log(2.0F);  // 2/3 and 1/3; at temperature 1/2 4/5 and 1/5
  const auto of_two = [](float p) { return -p * std::log(p) - (1 - p) * std::log(1 - p); };
  EXPECT_NEAR(entropy_of(std::vector{two, 0.0F}, 1), of_two(2.0F / 3), 1e-6);
  EXPECT_NEAR(entropy_of(std::vector{two, 0.0F}, 0.5F), of_two(0.8F), 1e-6);
  EXPECT_NEAR(entropy_of(std::vector{two, 0.0F}, 0), of_two(2.0F / 3), 1e-6);
}

}  // namespace
}  // namespace slipstream
