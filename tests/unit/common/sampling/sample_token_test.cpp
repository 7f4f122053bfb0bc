#include "common/sampling/sample_token.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/common/sampling/allocations.h"
#include "tests/unit/common/sampling/plain_sample_token.h"
#include "tests/unit/kernels/cpu/random_row.h"

namespace slipstream {
namespace {

SamplingParams random_params(std::mt19937_64& random) {
  constexpr float kTemperatures[] = {0.01F, 0.3F, 0.7F, 1.0F, 1.0F, 1.3F, 2.0F};
  constexpr float kTopP[] = {1e-6F, 0.1F, 0.5F, 0.9F, 0.95F, 0.999999F};
  constexpr float kMinP[] = {1e-30F, 0.01F, 0.1F, 0.5F, 0.999F};
  SamplingParams params{.temperature = kTemperatures[random() % std::size(kTemperatures)]};
  if (random() % 3 == 0) params.top_k = static_cast<int32_t>(1 + random() % (random() % 2 == 0 ? 5 : 2000));
  if (random() % 3 == 0) params.top_p = kTopP[random() % std::size(kTopP)];
  if (random() % 3 == 0) params.min_p = kMinP[random() % std::size(kMinP)];
  return params;
}

std::string described(const SamplingParams& params, size_t size) {
  return fmt::format("{} logits, temperature {}, top_k {}, top_p {}, min_p {}", size, params.temperature, params.top_k,
                     params.top_p, params.min_p);
}

// With the kernels of each path that this machine has.
class SampleTokenOnEachPath : public testing::TestWithParam<CpuPath> {
 protected:
  ChainScratch chain_scratch() const { return {.kernels = &vocabulary_kernels(GetParam())}; }
  SamplingScratch choose_scratch() const { return {.chain = chain_scratch()}; }
};
INSTANTIATE_TEST_SUITE_P(, SampleTokenOnEachPath, testing::ValuesIn(available_cpu_paths().begin(), available_cpu_paths().end()),
                         [](const auto& path) { return name(path.param); });

TEST_P(SampleTokenOnEachPath, EqualsThePlainLoopOnThousandsOfRandomRows) {
  std::mt19937_64 random(1);
  SamplingScratch scratch = choose_scratch();
  for (int i = 0; i < 6000; ++i) {
    const std::vector<float> logits = random_row(random);
    const RowSampling row{random() % 3, static_cast<uint32_t>(random() % 2), static_cast<uint32_t>(random() % 8),
                          random_params(random)};
    if (random() % 4 == 0) prepare(row, static_cast<int>(logits.size()), scratch);
    ASSERT_EQ(sample_token(logits, row, scratch), plain::sample_token(logits, row)) << described(row.params, logits.size());
  }
}

TEST_P(SampleTokenOnEachPath, TheChainKeepsExactlyWhatTheSortKeeps) {
  std::mt19937_64 random(2);
  ChainScratch scratch = chain_scratch();
  for (int i = 0; i < 6000; ++i) {
    const std::vector<float> logits = random_row(random);
    const SamplingParams params = random_params(random);
    const std::vector<int32_t> expected = plain::kept(logits, params);
    const auto kept = process(logits, params, scratch);
    ASSERT_EQ(kept.has_value(), !expected.empty());
    if (kept) {
      ASSERT_TRUE(std::ranges::equal(kept->ids, expected)) << described(params, logits.size());
    }
  }
}

// p at the very share of the first tokens, and next to it: what the row weighs must be known to the
// last bit, or nearly.
TEST_P(SampleTokenOnEachPath, TopPEndsWhereTheSortDoesWhereverPIs) {
  std::mt19937_64 random(4);
  ChainScratch scratch = chain_scratch();
  for (int i = 0; i < 60; ++i) {
    std::vector<float> logits(4000);
    std::normal_distribution<float> normal(0, 1.5F);
    for (float& logit : logits) logit = normal(random);
    for (int likely = 0; likely < 40; ++likely) logits[random() % logits.size()] += 9.0F;
    std::vector<float> order(logits);
    std::ranges::sort(order, std::greater{});
    uint64_t total = 0, sum = 0;
    for (const float logit : order) total += exp_fixed(static_cast<double>(logit) - static_cast<double>(order[0]));
    for (size_t first = 0; first < 30; ++first) {
      sum += exp_fixed(static_cast<double>(order[first]) - static_cast<double>(order[0]));
      const auto share = static_cast<float>(static_cast<double>(sum) / static_cast<double>(total));
      for (const float p : {std::nextafter(share, 0.0F), share, std::nextafter(share, 1.0F)}) {
        const auto kept = process(logits, {.top_p = p}, scratch);
        ASSERT_TRUE(kept && std::ranges::equal(kept->ids, plain::kept(logits, {.top_p = p}))) << "top_p " << p;
      }
    }
  }
}

TEST(SampleToken, TakesTheLowestIdOfTheHighestAtTemperatureZero) {
  SamplingScratch scratch;
  const RowSampling greedy{.seed = 1, .choice = 0, .position = 0, .params = {.temperature = 0}};
  for (size_t first : {0u, 5u, 64u, 129u}) {
    std::vector<float> logits(200, -2.0F);
    logits[first] = logits[150] = logits[199] = 7.0F;
    EXPECT_EQ(sample_token(logits, greedy, scratch), static_cast<TokenId>(first));
  }
}

TEST(SampleToken, GivesNoTokenForARowThatIsNotFinite) {
  SamplingScratch scratch;
  for (const SamplingParams& params : {SamplingParams{}, SamplingParams{.temperature = 0}, SamplingParams{.top_p = 0.9F}}) {
    const RowSampling row{.seed = 1, .choice = 0, .position = 0, .params = params};
    for (float bad : {NAN, INFINITY}) EXPECT_EQ(sample_token(std::vector<float>{0, bad, 1}, row, scratch), -1);
    EXPECT_EQ(sample_token(std::vector<float>(3, -INFINITY), row, scratch), -1);
  }
}

TEST(SampleToken, NeverTakesAMaskedToken) {
  SamplingScratch scratch;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    EXPECT_EQ(sample_token(std::vector<float>{-INFINITY, -5.0F, -INFINITY}, {seed, 0, 0, {}}, scratch), 1);
  }
}

TEST(SampleToken, AllocatesNothingOnceItHasGrown) {
  std::mt19937_64 random(3);
  std::vector<float> logits(5000);
  for (float& logit : logits) logit = std::normal_distribution<float>(0, 3)(random);
  SamplingScratch scratch;
  const SamplingParams all[] = {{.temperature = 0}, {}, {.top_p = 0.95F}, {.top_k = 100}, {.top_k = 40, .min_p = 0.1F}};
  const auto round = [&](uint32_t position) {
    for (const SamplingParams& params : all) sample_token(logits, {1, 0, position, params}, scratch);
  };
  for (uint32_t position = 0; position < kNoiseRowsKept; ++position) round(position);
  const uint64_t before = allocations();
  for (uint32_t position = 0; position < 100; ++position) round(position);
  EXPECT_EQ(allocations(), before);
}

}  // namespace
}  // namespace slipstream
