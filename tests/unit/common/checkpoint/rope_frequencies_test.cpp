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

TEST(RopeFrequencies, OfLinearScalingAreAllDivided) {
  EXPECT_THAT(rope_frequencies({.head_size = 4, .rope_theta = 10000.0F, .rope_divisor = 4.0F}), ElementsAre(0.25F, 0.0025F));
}

TEST(RopeFrequencies, OfLocalLayersHaveTheirOwnThetaAndNoScaling) {
  const LlamaConfig config{.head_size = 4, .rope_theta = 1e6F, .local_rope_theta = 10000.0F, .rope_divisor = 8.0F};
  EXPECT_THAT(local_rope_frequencies(config), ElementsAre(1.0F, FloatNear(0.01F, 1e-9F)));
  EXPECT_THAT(rope_frequencies(config), ElementsAre(0.125F, FloatNear(0.001F / 8, 1e-10F)));
}

// Numbers of transformers 5.23 (_compute_yarn_parameters).
TEST(RopeFrequencies, OfYarnAreThoseOfTransformers) {
  const auto near = [](float value) { return FloatNear(value, value * 3e-7F); };
  LlamaConfig config{.head_size = 16, .rope_theta = 10000.0F};
  config.yarn = YarnScaling{.factor = 4.0F, .attention_factor = 1.5F, .original_context = 4096};
  EXPECT_THAT(rope_frequencies(config),
              ElementsAre(1.0F, near(0.316227764F), near(0.100000001F), near(0.025693506F), near(0.00624999963F),
                          near(0.00138349656F), near(0.000250000012F), near(7.90569466e-05F)));
  EXPECT_EQ(rope_factor(config), 1.5F);
  config.yarn =
      YarnScaling{.factor = 4.0F, .beta_fast = 16.0F, .beta_slow = 2.0F, .original_context = 400, .whole_pairs = false};
  EXPECT_THAT(rope_frequencies(config),
              ElementsAre(1.0F, near(0.316227764F), near(0.0667607933F), near(0.00798054412F), near(0.00249999994F),
                          near(0.000790569466F), near(0.000250000012F), near(7.90569466e-05F)));
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
