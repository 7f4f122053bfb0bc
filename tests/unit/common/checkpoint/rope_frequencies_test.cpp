#include "common/checkpoint/rope_frequencies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::FloatNear;

TEST(RopeFrequencies, ArePowersOfTheta) {
  EXPECT_THAT(rope_frequencies({.head_size = 8, .rope_theta = 10000.0F}),
              ElementsAre(1.0F, FloatNear(0.1F, 1e-7F), FloatNear(0.01F, 1e-8F), FloatNear(0.001F, 1e-9F)));
}

TEST(RopeFrequencies, AreDividedByAFilesOwnDivisors) {
  EXPECT_THAT(rope_frequencies({.head_size = 4, .rope_theta = 10000.0F, .rope_divisors = {1.0F, 8.0F}}),
              ElementsAre(1.0F, FloatNear(0.01F / 8, 1e-9F)));
}

// Wave lengths: 6.3, 63, 628 and 6283 positions. Of an original context of 400, those below 100 are
// short, and those above 400 are long.
TEST(RopeFrequencies, OfLlama3AreLowerWhereWavesAreLong) {
  LlamaConfig config{.head_size = 8, .rope_theta = 10000.0F};
  config.llama3 = Llama3Scaling{.original_context = 400};
  EXPECT_THAT(rope_frequencies(config),
              ElementsAre(1.0F, FloatNear(0.1F, 1e-7F), FloatNear(0.01F / 8, 1e-8F), FloatNear(0.001F / 8, 1e-9F)));
}

}  // namespace
}  // namespace slipstream
