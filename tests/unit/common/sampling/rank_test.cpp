#include "common/sampling/rank.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "tests/unit/common/sampling/allocations.h"
#include "tests/unit/common/sampling/plain_sample_token.h"

namespace slipstream {
namespace {

std::vector<float> random_row(std::mt19937_64& random, size_t size) {
  std::vector<float> row(size);
  const bool tied = random() % 3 == 0, masked = random() % 4 == 0;
  std::normal_distribution<float> normal(0, random() % 2 == 0 ? 1.0F : 6.0F);
  for (float& logit : row) {
    logit = tied ? static_cast<float>(random() % 5) : normal(random);
    if (masked && random() % 3 == 0) logit = -INFINITY;
  }
  row[random() % size] = 1.0F;  // one at least is not masked
  return row;
}

RowSampling random_sampling(std::mt19937_64& random) {
  constexpr float kTemperatures[] = {0.0F, 0.0F, 0.3F, 0.7F, 1.0F, 1.3F};
  SamplingParams params{.temperature = kTemperatures[random() % std::size(kTemperatures)]};
  if (random() % 3 == 0) params.top_k = static_cast<int32_t>(1 + random() % 40);
  if (random() % 3 == 0) params.top_p = 0.9F;
  return {random() % 5, static_cast<uint32_t>(random() % 2), static_cast<uint32_t>(random() % 9), params};
}

// Keys by sorting all of them.
std::vector<TokenId> plain_order(std::span<const float> logits, const RowSampling& row) {
  const NoiseKey key{row.seed, row.choice, row.position, NoisePurpose::coupled};
  const bool greedy = row.params.temperature == 0;
  std::vector<TokenId> order;
  if (greedy) {
    for (size_t i = 0; i < logits.size(); ++i) {
      if (logits[i] > -INFINITY) order.push_back(static_cast<TokenId>(i));
    }
  } else {
    for (const int32_t id : plain::kept(logits, row.params)) order.push_back(id);
  }
  const auto value = [&](TokenId id) {
    if (greedy) return static_cast<double>(logits[id]);
    const float scaled = logits[id] * (1.0F / row.params.temperature);
    return static_cast<double>(scaled) + gumbel(key, static_cast<uint32_t>(id));
  };
  std::ranges::stable_sort(order, [&](TokenId a, TokenId b) { return value(a) > value(b); });
  return order;
}

TEST(Rank, OrdersTokensAsSortingAllOfTheirKeysWould) {
  std::mt19937_64 random(1);
  SamplingScratch scratch;
  for (int i = 0; i < 4000; ++i) {
    constexpr size_t kSizes[] = {1, 3, 17, 64, 65, 500, 4097};
    const auto logits = random_row(random, kSizes[random() % std::size(kSizes)]);
    const RowSampling row = random_sampling(random);
    std::array<Ranked, kRankedMax> ranked;
    const size_t count = rank(logits, row, scratch, ranked);
    const auto expected = plain_order(logits, row);
    ASSERT_EQ(count, std::min<size_t>(expected.size(), kRankedMax));
    for (size_t k = 0; k < count; ++k) ASSERT_EQ(ranked[k].token, expected[k]) << "place " << k << " of row " << i;
  }
}

// The target's logits are a guess and what the drafter does not know; the drafter gives the mean of
// the target's chances over all that it may be.
TEST(Rank, AMeanOfWhatTheTargetMaySayIsRightMoreOftenIfItIsSharpened) {
  constexpr size_t kTokens = 40, kTargets = 400;
  std::mt19937_64 random(7);
  std::normal_distribution<float> guess(0, 2), unknown(0, 3);
  std::vector<float> guessed(kTokens), mean(kTokens);
  for (float& logit : guessed) logit = guess(random);
  std::vector<std::vector<float>> targets(kTargets, guessed);
  for (std::vector<float>& target : targets) {
    float sum = 0;
    for (float& logit : target) sum += std::exp(logit += unknown(random));
    for (size_t i = 0; i < kTokens; ++i) mean[i] += std::exp(target[i]) / sum / kTargets;
  }
  for (float& chance : mean) chance = std::log(chance);
  SamplingScratch scratch;
  std::array<Ranked, 1> best;
  const auto choice = [&](std::span<const float> logits, const RowSampling& row) {
    EXPECT_EQ(rank(logits, row, scratch, best), 1u);
    return best[0].token;
  };
  int right = 0, right_sharpened = 0, asked = 0;
  for (uint32_t position = 0; position < 50; ++position) {
    for (size_t i = 0; i < kTargets; ++i, ++asked) {
      RowSampling row{.seed = i, .position = position, .params = {.temperature = 1}};
      const TokenId chosen = choice(targets[i], row);
      right += choice(mean, row) == chosen ? 1 : 0;
      row.params = sharpened(row.params);
      right_sharpened += choice(mean, row) == chosen ? 1 : 0;
    }
  }
  EXPECT_GT(right_sharpened - right, asked / 200) << right << " of " << asked;
}

TEST(Rank, SharpeningLeavesGreedyRequestsAndTheLeastTemperature) {
  EXPECT_EQ(sharpened({.temperature = 0}), SamplingParams{.temperature = 0});
  EXPECT_EQ(sharpened({.temperature = kTemperatureMin}).temperature, kTemperatureMin);
  EXPECT_EQ(sharpened({.temperature = 0.5F, .top_k = 3}), (SamplingParams{.temperature = 0.5F * kSharpened, .top_k = 3}));
}

// A reduced vocabulary is a row in which all other tokens are masked.
TEST(Rank, OfSomeTokensIsThatOfARowInWhichAllOthersAreMasked) {
  std::mt19937_64 random(5);
  SamplingScratch scratch, other;
  for (int i = 0; i < 4000; ++i) {
    auto wide = random_row(random, 1 + random() % 4097);
    std::vector<float> narrow;
    std::vector<TokenId> tokens;
    for (size_t token = 0; token < wide.size(); ++token) {
      if (random() % 5 != 0) {
        wide[token] = -INFINITY;
      } else {
        narrow.push_back(wide[token]);
        tokens.push_back(static_cast<TokenId>(token));
      }
    }
    if (narrow.empty()) continue;
    const RowSampling row = random_sampling(random);
    if (!filters(row.params)) {  // in any order: some tokens come behind the others
      const auto behind = static_cast<std::ptrdiff_t>(random() % narrow.size());
      std::ranges::rotate(narrow, narrow.begin() + behind);
      std::ranges::rotate(tokens, tokens.begin() + behind);
    }
    std::array<Ranked, kRankedMax> of_some, of_all;
    const size_t count = rank(narrow, tokens, static_cast<int>(wide.size()), row, scratch, of_some);
    ASSERT_EQ(count, rank(wide, row, other, of_all));
    for (size_t k = 0; k < count; ++k) ASSERT_EQ(of_some[k], of_all[k]) << "place " << k << " of row " << i;
  }
}

TEST(Rank, PutsFirstWhatSampleTokenGives) {
  std::mt19937_64 random(2);
  SamplingScratch scratch;
  for (int i = 0; i < 4000; ++i) {
    const auto logits = random_row(random, 1 + random() % 900);
    const RowSampling row = random_sampling(random);
    std::array<Ranked, 1> ranked;
    ASSERT_EQ(rank(logits, row, scratch, ranked), 1u);
    ASSERT_EQ(ranked[0].token, sample_token(logits, row, scratch));
  }
}

TEST(Rank, SharesOutAtMostOneInFallingConfidences) {
  std::mt19937_64 random(3);
  SamplingScratch scratch;
  for (int i = 0; i < 2000; ++i) {
    const auto logits = random_row(random, 1 + random() % 300);
    std::array<Ranked, kRankedMax> ranked;
    const size_t count = rank(logits, random_sampling(random), scratch, ranked);
    float sum = 0, before = 1;
    for (size_t k = 0; k < count; ++k) {
      ASSERT_LE(ranked[k].confidence, before);
      ASSERT_GE(ranked[k].confidence, 0);
      sum += before = ranked[k].confidence;
    }
    ASSERT_LE(sum, 1 + 1e-5F);
  }
}

TEST(Rank, IsSoftmaxOfTheWholeRowAtTemperatureZero) {
  SamplingScratch scratch;
  std::vector<float> logits(100);
  double total = 0;
  for (size_t i = 0; i < logits.size(); ++i) total += std::exp(logits[i] = static_cast<float>(i % 7) * 0.5F);
  std::array<Ranked, 3> ranked;
  ASSERT_EQ(rank(logits, {1, 0, 0, {.temperature = 0}}, scratch, ranked), 3u);
  for (const Ranked& each : ranked) EXPECT_NEAR(each.confidence, std::exp(3.0) / total, 1e-6);
}

// The claim behind the confidence, tried: a target whose logits are ours plus standard Gumbel noise
// chooses the first of the ranking as often as its confidences say.
TEST(Rank, IsRightAsOftenAsItSaysAboutATargetOneNatAway) {
  std::mt19937_64 random(4);
  std::extreme_value_distribution<float> gumbel_noise(0, 1);
  std::normal_distribution<float> normal(0, 3);
  SamplingScratch scratch;
  for (const float temperature : {0.0F, 0.7F, 1.0F}) {
    constexpr int kTrials = 20000;
    double said = 0, right = 0, variance = 0;
    for (int i = 0; i < kTrials; ++i) {
      std::array<float, kRankedMax> logits, target;  // no more tokens than are ranked: then confidences are exact
      for (size_t v = 0; v < logits.size(); ++v) target[v] = (logits[v] = normal(random)) + gumbel_noise(random);
      const RowSampling row{static_cast<uint64_t>(i), 0, 0, {.temperature = temperature}};
      std::array<Ranked, 1> first;
      rank(logits, row, scratch, first);
      said += first[0].confidence;
      variance += first[0].confidence * (1 - first[0].confidence);
      right += first[0].token == sample_token(target, row, scratch);
    }
    EXPECT_LT(std::abs(said - right), 4.5 * std::sqrt(variance)) << "temperature " << temperature;
    EXPECT_GT(right / kTrials, 0.3);
  }
}

TEST(Rank, RanksNothingWhereLogitsAreNotFinite) {
  SamplingScratch scratch;
  std::array<Ranked, 4> ranked;
  for (const float temperature : {0.0F, 1.0F}) {
    const RowSampling row{1, 0, 0, {.temperature = temperature}};
    for (const float bad : {NAN, INFINITY}) EXPECT_EQ(rank(std::vector<float>{0, bad, 1}, row, scratch, ranked), 0u);
    EXPECT_EQ(rank(std::vector<float>(3, -INFINITY), row, scratch, ranked), 0u);
  }
}

TEST(Rank, AllocatesNothingOnceItHasGrown) {
  SamplingScratch scratch;
  std::vector<float> logits(5000);
  for (size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(i * 7919 % 1000) * 0.01F;
  std::array<Ranked, 8> ranked;
  const auto round = [&](uint32_t position) {
    for (const float temperature : {0.0F, 1.0F}) rank(logits, {1, 0, position, {.temperature = temperature}}, scratch, ranked);
  };
  for (uint32_t position = 0; position < kNoiseRowsKept; ++position) round(position);
  const uint64_t before = allocations();
  for (uint32_t position = 0; position < 100; ++position) round(position);
  EXPECT_EQ(allocations(), before);
}

}  // namespace
}  // namespace slipstream
