// choose() samples from softmax over the kept tokens: one token, a token after filters, and
// three positions jointly.
//
// Power: a distribution that is off by total variation d makes the statistic noncentral by at
// least n (2d)^2. At n = 800,000 and d = 0.01 that is 320. The limits at alpha 1e-6 are about 43
// at 7 degrees of freedom and 131 at 63, so such an error is missed with probability below 1e-9.
// The tests plant errors of exactly that size and demand that they are found.
#include <gtest/gtest.h>

#include "common/sampling/sample_token.h"
#include "tests/distributions/goodness_of_fit.h"

namespace slipstream {
namespace {

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr uint64_t kSeeds = 800'000;  // consecutive integers, as people choose them
#else
constexpr uint64_t kSeeds = 20'000;  // a sanitizer's build looks for memory errors, not for biases
#endif
#define NEEDS_ALL_DRAWS() \
  if (kSeeds < 800'000) GTEST_SKIP() << "a bias of one percent takes the draws of the release preset"
constexpr double kPlantedBias = 0.01;

const std::vector<float> kLogits = {1.5F, 0.0F, -1.0F, 2.0F, 0.5F, 0.5F, -3.0F, 1.0F};

std::vector<uint64_t> draw(std::span<const float> logits, const SamplingParams& params) {
  std::vector<uint64_t> counts(logits.size());
  SamplingScratch scratch;
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    ++counts[static_cast<size_t>(sample_token(logits, {seed, 0, 0, params}, scratch))];
  return counts;
}

// The temperature that moves a distribution by kPlantedBias from that of temperature 1.
// distribution: a function of the temperature.
template <class Distribution>
float biased_temperature(const Distribution& distribution) {
  double near = 1, far = 2;
  for (int i = 0; i < 50; ++i) {
    const double middle = (near + far) / 2;
    (total_variation(distribution(middle), distribution(1)) < kPlantedBias ? near : far) = middle;
  }
  EXPECT_NEAR(total_variation(distribution(far), distribution(1)), kPlantedBias, 1e-4);
  return static_cast<float>(far);
}

TEST(SampledTokenDistribution, IsTheSoftmax) {
  for (float temperature : {0.5F, 1.0F, 1.7F}) {
    const auto counts = draw(kLogits, {.temperature = temperature});
    EXPECT_GT(p_value(counts, softmax(kLogits, temperature)), kAlpha) << temperature;
  }
}

TEST(SampledTokenDistribution, ABiasOfOnePercentIsFound) {
  NEEDS_ALL_DRAWS();
  const float temperature = biased_temperature([](double at) { return softmax(kLogits, at); });
  EXPECT_LT(p_value(draw(kLogits, {.temperature = temperature}), softmax(kLogits, 1)), kAlpha);
}

TEST(SampledTokenDistribution, IsTheSoftmaxOfWhatTheFiltersKeep) {
  const SamplingParams filters[] = {
      {.top_k = 3}, {.top_p = 0.8F}, {.min_p = 0.2F}, {.temperature = 1.3F, .top_k = 6, .top_p = 0.9F, .min_p = 0.1F}};
  for (const SamplingParams& params : filters) {
    ChainScratch scratch;
    std::vector<float> left(kLogits.size(), -INFINITY);
    const auto kept = process(kLogits, params, scratch);
    for (TokenId id : kept->ids) left[static_cast<size_t>(id)] = kLogits[static_cast<size_t>(id)];
    EXPECT_LT(kept->ids.size(), kLogits.size());
    EXPECT_GT(p_value(draw(kLogits, params), softmax(left, params.temperature)), kAlpha);
  }
}

// A target of four tokens whose logits depend on the two tokens before.
constexpr size_t kTokens = 4, kTriples = kTokens * kTokens * kTokens;
std::vector<float> logits_after(size_t before, size_t last) {
  std::vector<float> logits;
  for (size_t token = 0; token < kTokens; ++token) {
    logits.push_back(static_cast<float>((3 * before + 5 * last + 7 * token) % 11) / 5.0F);
  }
  return logits;
}

std::vector<double> distribution_of_triples(double last_temperature) {
  std::vector<double> distribution;
  for (size_t cell = 0; cell < kTriples; ++cell) {
    const size_t a = cell / 16, b = cell / 4 % 4, c = cell % 4;
    distribution.push_back(softmax(logits_after(0, 0), 1)[a] * softmax(logits_after(0, a), 1)[b] *
                           softmax(logits_after(a, b), last_temperature)[c]);
  }
  return distribution;
}

struct Flaw {
  uint32_t stride = 1;            // output positions a token; 0: each token uses the noise of the first
  float last_temperature = 1.0F;  // of the third token
};

double joint_p_value(const Flaw& flaw) {
  std::vector<std::vector<float>> rows;
  for (size_t i = 0; i < kTokens * kTokens; ++i) rows.push_back(logits_after(i / kTokens, i % kTokens));
  std::vector<uint64_t> counts(kTriples);
  SamplingScratch scratch;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    size_t before = 0, last = 0, cell = 0;
    for (uint32_t position = 0; position < 3; ++position) {
      const SamplingParams params{.temperature = position == 2 ? flaw.last_temperature : 1.0F};
      const TokenId token = sample_token(rows[before * kTokens + last], {seed, 0, position * flaw.stride, params}, scratch);
      before = std::exchange(last, static_cast<size_t>(token));
      cell = cell * kTokens + last;
    }
    ++counts[cell];
  }
  return p_value(counts, distribution_of_triples(1));
}

TEST(SampledTokenDistribution, ThreePositionsInARowHaveTheirJointDistribution) { EXPECT_GT(joint_p_value({}), kAlpha); }

TEST(SampledTokenDistribution, NoiseUsedAgainIsFound) { EXPECT_LT(joint_p_value({.stride = 0}), kAlpha); }

TEST(SampledTokenDistribution, ABiasOfOnePercentInTheThirdTokenIsFound) {
  NEEDS_ALL_DRAWS();
  const float temperature = biased_temperature(distribution_of_triples);
  EXPECT_LT(joint_p_value({.last_temperature = temperature}), kAlpha);
}

}  // namespace
}  // namespace slipstream
