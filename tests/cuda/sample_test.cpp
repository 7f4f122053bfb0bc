// The same tokens and confidences as common/sampling, to the bit.
#include "kernels/cuda/sample.h"

#include <random>

#include <gtest/gtest.h>

#include "common/sampling/rank.h"
#include "common/sampling/sample_token.h"
#include "tests/cuda/tensors.h"
#include "tests/unit/kernels/cpu/random_row.h"

namespace slipstream::cuda {
namespace {

RowRule rule_of(const RowSampling& row) {
  return {row.seed, row.choice, row.position, row.params.temperature, row.params.top_k, row.params.top_p, row.params.min_p};
}

template <class T, size_t size>
T one_of(const T (&values)[size], std::mt19937_64& random) {
  return values[random() % size];
}

RowSampling random_rule(std::mt19937_64& random) {
  return {.seed = random(),
          .choice = static_cast<uint32_t>(random() % 3),
          .position = static_cast<uint32_t>(random() % 1000),
          .params = {.temperature = one_of({0.0F, 0.01F, 0.7F, 1.0F, 2.0F}, random),
                     .top_k = one_of({0, 0, 1, 2, 40, 5000}, random),
                     .top_p = one_of({1.0F, 1.0F, 1e-6F, 0.5F, 0.9F, 0.9999F}, random),
                     .min_p = one_of({0.0F, 0.0F, 0.05F, 0.999F}, random)}};
}

// A row with its rule.
struct Case {
  std::vector<float> logits;
  RowSampling rule;
};

int32_t sampled(const std::vector<float>& logits, const std::vector<RowRule>& rules, size_t row) {
  DeviceArray<float> in("logits", logits);
  DeviceArray<RowRule> how("rules", rules);
  DeviceArray<int32_t> ids("ids", rules.size());
  DeviceArray<SampleScratch> scratch("scratch", rules.size());
  const auto rows = static_cast<int32_t>(rules.size());
  EXPECT_EQ(sample_tokens({.logits = in.data(),
                           .rules = how.data(),
                           .ids = ids.data(),
                           .scratch = scratch.data(),
                           .rows = rows,
                           .vocabulary = static_cast<int32_t>(logits.size()) / rows},
                          nullptr),
            0)
      << take_fault();
  return ids.host()[row];
}

std::vector<Ranked> ranked(const Case& each, int32_t count) {
  DeviceArray<float> in("logits", each.logits);
  DeviceArray<RowRule> how("rules", std::vector{rule_of(each.rule)});
  DeviceArray<RankedToken> out("ranked", static_cast<size_t>(count));
  DeviceArray<SampleScratch> scratch("scratch", 1);
  EXPECT_EQ(rank_tokens({.logits = in.data(),
                         .rules = how.data(),
                         .ranked = out.data(),
                         .scratch = scratch.data(),
                         .rows = 1,
                         .vocabulary = static_cast<int32_t>(each.logits.size()),
                         .count = count},
                        nullptr),
            0)
      << take_fault();
  std::vector<Ranked> all;
  for (const RankedToken& token : out.host()) all.push_back({token.token, token.confidence});
  return all;
}

void expect_twin(const Case& each, SamplingScratch& scratch) {
  const SamplingParams& params = each.rule.params;
  const auto what = testing::Message() << each.logits.size() << " tokens, temperature " << params.temperature << ", top_k "
                                       << params.top_k << ", top_p " << params.top_p << ", min_p " << params.min_p;
  EXPECT_EQ(sampled(each.logits, {rule_of(each.rule)}, 0), sample_token(each.logits, each.rule, scratch)) << what;
}

TEST(CudaSample, EqualsItsCpuTwinToTheBit) {
  std::mt19937_64 random(1);
  SamplingScratch scratch;
  for (int i = 0; i < 300; ++i) expect_twin({random_row(random), random_rule(random)}, scratch);
}

// Each filter alone, on rows like a model's: many tokens, few likely ones.
TEST(CudaSample, EqualsItsCpuTwinForEachFilter) {
  std::mt19937_64 random(2);
  std::normal_distribution<float> normal(0, 3);
  SamplingScratch scratch;
  std::vector<float> logits(9001);
  for (int i = 0; i < 12; ++i) {
    for (float& each : logits) each = normal(random);
    RowSampling rule{.seed = random(), .params = {.temperature = 1}};
    expect_twin({logits, rule}, scratch);
    rule.params.top_k = 50;
    expect_twin({logits, rule}, scratch);
    rule.params = {.temperature = 1, .top_p = 0.95F};
    expect_twin({logits, rule}, scratch);
    rule.params = {.temperature = 1, .min_p = 0.02F};
    expect_twin({logits, rule}, scratch);
  }
}

TEST(CudaSample, RefusesRowsThatAreNotNumbersOrAllMasked) {
  for (const float bad : {NAN, INFINITY, 3e38F}) {
    const RowSampling rule{.params = {.temperature = 0.5F}};
    EXPECT_EQ(sampled({1, bad, 2}, {rule_of(rule)}, 0), -1) << bad;
  }
  EXPECT_EQ(sampled({-INFINITY, -INFINITY}, {RowRule{.temperature = 0}}, 0), -1);
}

TEST(CudaSample, TakesTheLowestIdOfEqualLogits) {
  EXPECT_EQ(sampled({1, 5, 5, -0.0F}, {RowRule{.temperature = 0}}, 0), 1);
  EXPECT_EQ(sampled({-0.0F, 0.0F}, {RowRule{.temperature = 0}}, 0), 0);
}

// Equal logits are cut apart by their ids.
TEST(CudaSample, CutsTiesByIdAsItsCpuTwin) {
  SamplingScratch scratch;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const RowSampling rule{.seed = seed, .params = {.temperature = 1, .top_k = static_cast<int32_t>(1 + seed % 7)}};
    expect_twin({std::vector<float>(10, 0.25F), rule}, scratch);
    expect_twin({std::vector<float>(300, -1), {.seed = seed, .params = {.temperature = 1, .top_p = 0.31F}}}, scratch);
  }
}

TEST(CudaSample, TakesEachRowByItsOwnRule) {
  std::vector<float> logits;
  std::vector<RowRule> rules;
  for (uint64_t row = 0; row < 4; ++row) {
    for (int token = 0; token < 100; ++token) logits.push_back(static_cast<float>(token % 7));
    rules.push_back({.seed = row, .temperature = row == 0 ? 0.0F : 1.0F});
  }
  for (size_t row = 0; row < 4; ++row) {
    const std::vector<float> own(logits.begin() + static_cast<int64_t>(row) * 100,
                                 logits.begin() + static_cast<int64_t>(row + 1) * 100);
    EXPECT_EQ(sampled(logits, rules, row), sampled(own, {rules[row]}, 0));
  }
}

TEST(CudaRank, EqualsItsCpuTwinToTheBit) {
  std::mt19937_64 random(3);
  SamplingScratch scratch;
  for (int i = 0; i < 100; ++i) {
    const Case each{random_row(random), random_rule(random)};
    const auto count = static_cast<int32_t>(1 + random() % kRankedTokens);
    std::vector<Ranked> expected(static_cast<size_t>(count));
    rank(each.logits, each.rule, scratch, expected);
    EXPECT_EQ(ranked(each, count), expected) << each.logits.size() << " tokens, temperature " << each.rule.params.temperature;
  }
}

}  // namespace
}  // namespace slipstream::cuda
