// The distribution that tests compute from the model adds up, is the same from a tree as from a
// prompt, and takes planted errors of exactly their size.
#include "tests/e2e/support/exact_distribution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include <gtest/gtest.h>

#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/prompt_ids.h"

namespace slipstream::e2e {
namespace {

class ExactDistributionTest : public testing::Test {
 protected:
  std::vector<TokenId> prompt_ = prompt_ids(tiny_model(), "hello");
};

TEST_F(ExactDistributionTest, SumsToOneOnEveryRow) {
  const auto distribution = ExactDistribution::of(tiny_model(), prompt_, 3);
  ASSERT_TRUE(distribution) << distribution.error().message;
  for (const TokenId a : distribution->candidates()) {
    const auto row = distribution->after(std::array{a, distribution->candidates().back() - a});
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-9);
  }
}

// A token's distribution in a tree has the bits of its distribution at the end of a prompt. The
// promise of the same words depends on it.
TEST_F(ExactDistributionTest, IsTheSameFromATreeAsFromAPrompt) {
  const auto distribution = ExactDistribution::of(tiny_model(), prompt_, 3);
  ASSERT_TRUE(distribution) << distribution.error().message;
  for (const std::array path : {std::array{5, 9}, {63, 40}, {31, 32}}) {
    std::vector<TokenId> longer = prompt_;
    longer.insert(longer.end(), path.begin(), path.end());
    const auto alone = ExactDistribution::of(tiny_model(), longer, 1);
    ASSERT_TRUE(alone);
    const auto expected = alone->after({});
    const auto found = distribution->after(path);
    for (size_t v = 0; v < expected.size(); ++v) EXPECT_EQ(found[v], expected[v]);
  }
}

TEST_F(ExactDistributionTest, OfFewAllowedTokensIsTheSameFromATreeAsFromAPrompt) {
  const DistributionSetting setting{.temperature = 0.7, .how = {.allowed = {5, 40, 63}}};
  const auto distribution = ExactDistribution::of(tiny_model(), prompt_, 6, setting);
  ASSERT_TRUE(distribution) << distribution.error().message;
  for (const std::array path : {std::array{5, 63, 40, 40, 5}, {63, 63, 63, 63, 63}}) {
    std::vector<TokenId> longer = prompt_;
    longer.insert(longer.end(), path.begin(), path.end());
    const auto alone = ExactDistribution::of(tiny_model(), longer, 1, setting);
    ASSERT_TRUE(alone);
    const auto found = distribution->after(path);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_NEAR(std::accumulate(found.begin(), found.end(), 0.0), 1, 1e-12);
    for (size_t v = 0; v < found.size(); ++v) EXPECT_EQ(found[v], alone->after({})[v]);
  }
}

double variation(const ExactDistribution& distribution, const ExactDistribution& other, std::span<const TokenId> path) {
  double sum = 0;
  for (size_t v = 0; v < distribution.after(path).size(); ++v)
    sum += std::abs(distribution.after(path)[v] - other.after(path)[v]) / 2;
  return sum;
}

TEST_F(ExactDistributionTest, IsBiasedByExactlyTheMassThatIsPlanted) {
  const auto distribution = ExactDistribution::of(tiny_model(), prompt_, 3);
  ASSERT_TRUE(distribution);
  ExactDistribution biased = *distribution;
  biased.bias(2, 0.01);
  EXPECT_NEAR(variation(*distribution, biased, std::array{4, 5}), 0.01, 1e-12);
}

// Every prefix's distribution moves, but the mean distribution of the ranks hardly does.
TEST_F(ExactDistributionTest, IsScatteredByTheMassThatIsPlantedWithoutDirection) {
  const auto distribution = ExactDistribution::of(tiny_model(), prompt_, 3);
  ASSERT_TRUE(distribution);
  ExactDistribution scattered = *distribution;
  scattered.scatter(2, 0.01);
  double moved = 0, of_first = 0;
  for (const TokenId a : distribution->candidates()) {
    for (const TokenId b : distribution->candidates()) {
      const std::array path{a, b};
      moved += variation(*distribution, scattered, path);
      const auto before = distribution->after(path);
      of_first += scattered.after(path)[static_cast<size_t>(std::ranges::max_element(before) - before.begin())] -
                  std::ranges::max(before);
    }
  }
  EXPECT_NEAR(moved / 4096, 0.01, 1e-4);
  EXPECT_LT(std::abs(of_first / 4096), 0.001);
}

}  // namespace
}  // namespace slipstream::e2e
