// Penalties and biases change the distribution of sampled tokens as their formulas say, jointly
// over three positions. A draft path gives the last two positions their output. The power is
// that of sampled_token_test.cpp.
#include <algorithm>

#include <gtest/gtest.h>

#include "common/sampling/logits_processor.h"
#include "common/sampling/sample_token.h"
#include "tests/distributions/goodness_of_fit.h"
#include "tests/unit/common/sampling/adjust.h"

namespace slipstream {
namespace {

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr uint64_t kSeeds = 800'000;
#else
constexpr uint64_t kSeeds = 20'000;
#endif
#define NEEDS_ALL_DRAWS() \
  if (kSeeds < 800'000) GTEST_SKIP() << "a bias of one percent takes the draws of the release preset"
constexpr double kPlantedBias = 0.01;
constexpr size_t kTokens = 4, kTriples = kTokens * kTokens * kTokens;
constexpr double kTemperature = 0.8;
const std::vector<TokenId> kPrompt = {1, 1, 3};
const LogitsParams kHow{
    .repetition_penalty = 1.4F, .presence_penalty = 0.3F, .frequency_penalty = 0.5F, .bias = {{0, -0.4F}, {2, 0.7F}}};

std::vector<float> logits_after(size_t before, size_t last) {
  std::vector<float> logits;
  for (size_t token = 0; token < kTokens; ++token) {
    logits.push_back(static_cast<float>((3 * before + 5 * last + 7 * token) % 11) / 5.0F - 0.9F);
  }
  return logits;
}

// The distribution that the formulas give, in the test's own arithmetic.
std::vector<double> distribution_after(const std::vector<size_t>& output, const LogitsParams& how) {
  const size_t before = output.size() < 2 ? 0 : output[output.size() - 2], last = output.empty() ? 0 : output.back();
  std::vector<float> logits = logits_after(before, last);
  for (size_t v = 0; v < kTokens; ++v) {
    double logit = logits[v];
    const auto times = static_cast<double>(std::ranges::count(output, v));
    if (times > 0 || v == 1 || v == 3) logit = logit > 0 ? logit / how.repetition_penalty : logit * how.repetition_penalty;
    logit -= how.frequency_penalty * times + (times > 0 ? how.presence_penalty : 0.0F);
    if (v == 0) logit += how.bias[0].bias;
    if (v == 2) logit += how.bias[1].bias;
    logits[v] = static_cast<float>(logit);
  }
  return softmax(logits, kTemperature);
}

std::vector<double> distribution_of_triples(const LogitsParams& how) {
  std::vector<double> distribution;
  for (size_t cell = 0; cell < kTriples; ++cell) {
    const size_t a = cell / 16, b = cell / 4 % 4, c = cell % 4;
    distribution.push_back(distribution_after({}, how)[a] * distribution_after({a}, how)[b] *
                           distribution_after({a, b}, how)[c]);
  }
  return distribution;
}

// sees: how many of the drafted tokens before a row the logits processor is told.
double joint_p_value(const LogitsParams& how, size_t sees = 2) {
  LogitsProcessor logits_processor(how);
  logits_processor.add_prompt(kPrompt);
  std::vector<uint64_t> counts(kTriples);
  SamplingScratch scratch;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::vector<TokenId> path;
    size_t before = 0, last = 0, cell = 0;
    for (uint32_t position = 0; position < 3; ++position) {
      std::vector<float> logits = logits_after(before, last);
      adjust(logits_processor, logits, std::span(path).first(std::min(sees, path.size())));
      const SamplingParams params{.temperature = static_cast<float>(kTemperature)};
      path.push_back(sample_token(logits, {seed, 0, position, params}, scratch));
      before = std::exchange(last, static_cast<size_t>(path.back()));
      cell = cell * kTokens + last;
    }
    ++counts[cell];
  }
  return p_value(counts, distribution_of_triples(kHow));
}

TEST(ProcessedDistribution, IsThatOfTheFormulasOverThreePositions) { EXPECT_GT(joint_p_value(kHow), kAlpha); }

TEST(ProcessedDistribution, ARowThatDoesNotSeeItsPathIsFound) {
  for (const size_t sees : {size_t{0}, size_t{1}}) EXPECT_LT(joint_p_value(kHow, sees), kAlpha);
}

TEST(ProcessedDistribution, ABiasOfOnePercentInAPenaltyIsFound) {
  NEEDS_ALL_DRAWS();
  float near = kHow.frequency_penalty, far = kPenaltyMax;
  LogitsParams off = kHow;
  for (int i = 0; i < 40; ++i) {
    off.frequency_penalty = (near + far) / 2;
    (total_variation(distribution_of_triples(off), distribution_of_triples(kHow)) < kPlantedBias ? near : far) =
        off.frequency_penalty;
  }
  EXPECT_NEAR(total_variation(distribution_of_triples(off), distribution_of_triples(kHow)), kPlantedBias, 1e-4);
  EXPECT_LT(joint_p_value(off), kAlpha);
}

}  // namespace
}  // namespace slipstream
