#include "common/sampling/near_tie.h"

#include <array>

#include <gtest/gtest.h>

#include "kernels/exact/noise.h"

namespace slipstream {
namespace {

bool near(const std::vector<float>& logits, const RowSampling& how, float nats) {
  SamplingScratch scratch;
  std::array<Ranked, 2> best{};
  rank(logits, how, scratch, best);
  return near_tie(best, nats);
}

TEST(NearTie, IsAtTemperatureZeroTheGapOfTheTwoHighestLogits) {
  const RowSampling greedy{.params = {.temperature = 0}};
  EXPECT_TRUE(near({1, 4, 3.8F, 0}, greedy, 0.21F));
  EXPECT_FALSE(near({1, 4, 3.8F, 0}, greedy, 0.19F));
}

// By how much the second logit would have to rise to win under the row's noise.
TEST(NearTie, IsThatGapUnderTheNoiseAboveIt) {
  for (const float temperature : {0.3F, 1.0F, 1.7F}) {
    for (uint32_t position = 0; position < 50; ++position) {
      const RowSampling how{.seed = 3, .position = position, .params = {.temperature = temperature}};
      const NoiseKey key{3, 0, position, NoisePurpose::coupled};
      const auto sum = [&](float logit, uint32_t token) { return logit + temperature * gumbel(key, token); };
      const std::vector<float> logits{0.5F, 0};
      const auto gap = static_cast<float>(std::abs(sum(logits[0], 0) - sum(logits[1], 1)));
      if (gap > 10) continue;  // the second's confidence is near 0
      EXPECT_TRUE(near(logits, how, gap * 1.01F + 1e-5F)) << temperature << ", " << position;
      EXPECT_FALSE(near(logits, how, gap * 0.99F - 1e-5F)) << temperature << ", " << position;
    }
  }
}

TEST(NearTie, IsNoneWhereOneTokenIsLeft) { EXPECT_FALSE(near({1, -INFINITY}, {.params = {.temperature = 0}}, 100)); }

TEST(NearTie, IsNoneOfARowThatIsRefused) { EXPECT_FALSE(near({NAN, 1}, {.params = {.temperature = 0}}, 100)); }

}  // namespace
}  // namespace slipstream
