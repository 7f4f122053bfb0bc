#include "common/sampling/logprobs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

std::vector<float> random_row(std::mt19937_64& random, float spread) {
  std::vector<float> logits(2 + random() % 3000);
  for (float& logit : logits) logit = std::normal_distribution<float>(0, spread)(random);
  return logits;
}

// By libm, in long double.
double exact(const std::vector<float>& logits, size_t token) {
  long double sum = 0;
  const long double most = *std::ranges::max_element(logits);
  for (float logit : logits) sum += std::exp(logit - most);
  return static_cast<double>(logits[token] - most - std::log(sum));
}

TEST(Logprobs, AreTheLogSoftmaxOfTheRow) {
  std::mt19937_64 random(1);
  ChainScratch scratch;
  for (const float spread : {0.1F, 3.0F, 40.0F}) {
    for (int i = 0; i < 200; ++i) {
      const std::vector<float> logits = random_row(random, spread);
      const size_t token = random() % logits.size();
      const double found = logprob_of(logits, static_cast<TokenId>(token), 0, scratch).logprob;
      const double expected = exact(logits, token);
      ASSERT_NEAR(found, expected, 1e-6 + 1e-7 * std::abs(expected));
      ASSERT_LE(found, 0);
    }
  }
}

TEST(Logprobs, NameTheLikeliestFallingLowestIdFirst) {
  std::mt19937_64 random(2);
  ChainScratch scratch;
  for (int i = 0; i < 300; ++i) {
    std::vector<float> logits = random_row(random, 2);
    for (float& logit : logits) logit = std::round(logit * 4) / 4;  // ties
    std::vector<TokenId> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater{}, [&](TokenId id) { return logits[static_cast<size_t>(id)]; });
    const auto top = static_cast<int>(random() % (kTopLogprobsMax + 1));
    const TokenLogprob found = logprob_of(logits, 0, top, scratch);
    ASSERT_EQ(found.top.size(), std::min(logits.size(), static_cast<size_t>(top)));
    for (size_t place = 0; place < found.top.size(); ++place) {
      ASSERT_EQ(found.top[place].id, order[place]);
      ASSERT_EQ(found.top[place].logprob, logprob_of(logits, order[place], 0, scratch).logprob);
    }
  }
}

TEST(Logprobs, RankTheTokenInThatOrderOverTheWholeRow) {
  std::mt19937_64 random(3);
  ChainScratch scratch;
  for (int i = 0; i < 100; ++i) {
    std::vector<float> logits = random_row(random, 2);
    for (float& logit : logits) logit = std::round(logit * 4) / 4;  // ties
    std::vector<TokenId> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater{}, [&](TokenId id) { return logits[static_cast<size_t>(id)]; });
    for (const size_t place : {size_t{0}, order.size() / 2, random() % order.size(), order.size() - 1}) {
      ASSERT_EQ(logprob_of(logits, order[place], 0, scratch).rank, static_cast<int32_t>(place) + 1);
    }
  }
}

TEST(Logprobs, AreNeverAboveZeroAndZeroWhereNothingElseCanBe) {
  ChainScratch scratch;
  EXPECT_EQ(logprob_of(std::vector<float>{-INFINITY, 3, -INFINITY}, 1, 3, scratch), (TokenLogprob{0.0F, {{1, 0.0F}}, 1}));
  EXPECT_EQ(logprob_of(std::vector<float>{1000, 3, -1000}, 0, 0, scratch).logprob, 0.0F);
}

TEST(Logprobs, AreFiniteWhateverTheLogits) {
  ChainScratch scratch;
  const float most = std::numeric_limits<float>::max();
  EXPECT_EQ(logprob_of(std::vector<float>{most, -most}, 1, 0, scratch).logprob, -most);
}

TEST(Logprobs, OfARowThatIsNotUsableAreNone) {
  ChainScratch scratch;
  EXPECT_EQ(logprob_of(std::vector<float>{NAN, 3}, -1, 3, scratch), TokenLogprob{});
}

}  // namespace
}  // namespace slipstream
