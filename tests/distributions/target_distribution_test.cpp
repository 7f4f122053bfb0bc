// The integer weights that acceptance rules compare: softmax of a row, a cut draft distribution,
// and their distance and entropy.
#include "common/speculation/rejection/token_distribution.h"

#include <numeric>
#include <random>

#include <gmock/gmock.h>

#include "tests/distributions/goodness_of_fit.h"

namespace slipstream {
namespace {

using testing::ElementsAre;

OwnedDistribution distribution_of(std::initializer_list<uint64_t> weights) {
  OwnedDistribution distribution;
  TokenId id = 0;
  for (const uint64_t weight : weights) distribution.add(id++, weight);
  return distribution;
}

TEST(TargetDistribution, IsSoftmaxOfTheRow) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(500);
  for (float& logit : logits) logit = normal(random);
  ChainScratch scratch;
  OwnedDistribution distribution;
  for (const float temperature : {0.3F, 1.0F, 1.7F}) {
    ASSERT_TRUE(target_distribution(logits, {.temperature = temperature}, scratch, distribution));
    const auto expected = softmax(logits, temperature);
    for (TokenId token = 0; token < 500; ++token) {
      EXPECT_NEAR(distribution.view().probability(token), expected[static_cast<size_t>(token)], 1e-6)
          << token;  // the row is in floats
    }
  }
}

TEST(TargetDistribution, HasOnlyWhatTheChainKeeps) {
  const std::vector<float> logits{0, 3, 1, 2, -5};
  ChainScratch scratch;
  OwnedDistribution distribution;
  ASSERT_TRUE(target_distribution(logits, {.temperature = 1, .top_k = 2}, scratch, distribution));
  EXPECT_THAT(distribution.ids, ElementsAre(1, 3));
  EXPECT_EQ(distribution.total, std::accumulate(distribution.weights.begin(), distribution.weights.end(), uint64_t{0}));
  EXPECT_EQ(distribution.view().weight(0), 0u);
  ASSERT_TRUE(target_distribution(logits, {.temperature = 0}, scratch, distribution));
  EXPECT_THAT(distribution.ids, ElementsAre(1));
}

TEST(TargetDistribution, IsNoneOfARowThatIsNotFinite) {
  ChainScratch scratch;
  OwnedDistribution distribution = distribution_of({1});
  EXPECT_FALSE(target_distribution(std::vector<float>{0, NAN}, {}, scratch, distribution));
  EXPECT_TRUE(distribution.view().empty());
}

TEST(Quantise, KeepsTheLikeliestAndAddsUp) {
  OwnedDistribution cut;
  quantise(distribution_of({5, 100, 5, 50, 1}).view(), 3, cut);
  EXPECT_THAT(cut.ids, ElementsAre(0, 1, 3)) << "the lower id on ties";
  EXPECT_EQ(cut.total, kDraftDistributionTotal);
  EXPECT_EQ(std::accumulate(cut.weights.begin(), cut.weights.end(), uint64_t{0}), kDraftDistributionTotal);
  EXPECT_NEAR(cut.view().probability(3), 50.0 / 155, 1e-4);
}

TEST(Quantise, LeavesNoTokenThatItKeepsWithoutAChance) {
  OwnedDistribution wide, cut;
  wide.add(0, uint64_t{1} << 44);
  for (TokenId id = 1; id < 100; ++id) wide.add(id, 1);
  wide.add(100, 0);
  quantise(wide.view(), kDraftDistributionTokensMax, cut);
  EXPECT_EQ(cut.ids.size(), kDraftDistributionTokensMax);
  EXPECT_EQ(cut.view().weight(1), 1u);
  EXPECT_EQ(cut.total, kDraftDistributionTotal);
  quantise(distribution_of({0, 7, 0}).view(), 3, cut);
  EXPECT_THAT(cut.ids, ElementsAre(1));
}

TEST(TotalVariation, IsHalfTheDistance) {
  EXPECT_DOUBLE_EQ(total_variation(distribution_of({3, 1}).view(), distribution_of({1, 3}).view()), 0.5);
  EXPECT_DOUBLE_EQ(total_variation(distribution_of({0, 1}).view(), distribution_of({1}).view()), 1.0);
  EXPECT_DOUBLE_EQ(total_variation(distribution_of({1, 1, 2}).view(), distribution_of({1, 1, 2}).view()), 0.0);
}

TEST(Entropy, IsThatOfTheDistribution) {
  EXPECT_NEAR(entropy(distribution_of({1, 1, 1, 1}).view()), std::log(4.0), 1e-12);
  EXPECT_EQ(entropy(distribution_of({0, 5}).view()), 0);
}

}  // namespace
}  // namespace slipstream
