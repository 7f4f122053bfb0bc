// A biased rule declares exactly the variation that it spends, by enumeration.
#include "common/speculation/rejection/accept_biased.h"

#include <gtest/gtest.h>

#include "tests/distributions/round_distribution.h"

namespace slipstream {
namespace {

constexpr Bias kBiases[] = {{Bias::Kind::lenience, 0.5},     {Bias::Kind::lenience, 1.0},    {Bias::Kind::pareto, 0.1},
                            {Bias::Kind::pareto, 0.0},       {Bias::Kind::uniform, 0.1},     {Bias::Kind::uniform, 0.0},
                            {Bias::Kind::typical, 0.3, 0.6}, {Bias::Kind::typical, 0.0, 0.0}};

Accept accept_with(const Bias& bias) {
  return [bias](const DraftTree& sampled, TargetDistributions& target, RandomSource& random, AcceptScratch&) {
    return accept_biased(sampled, bias, target, random).walk;
  };
}

// The total variation between the distribution of the first token and the target's.
double variation(const ToyDistributions& distributions, const Outcome& outcome) {
  std::map<TokenId, double> distribution;
  for (const auto& [emitted, probability] : outcome.emitted) distribution[emitted.front()] += probability;
  double apart = 0;
  for (TokenId token = 0; token < distributions.vocabulary(); ++token)
    apart += std::abs(distribution[token] - distributions.p({}, token));
  return apart / 2;
}

TEST(DeclaredBias, SpendsExactlyWhatItSays) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const ToyDistributions distributions(2 + static_cast<int>(seed % 4), seed, kTempers[seed % std::size(kTempers)]);
    for (const Bias& bias : kBiases) {
      const Outcome outcome = every_round(distributions, of_shape({kRoot}, Replacement::without), accept_with(bias));
      EXPECT_NEAR(variation(distributions, outcome),
                  spent(bias, distributions.target({}).view(), distributions.draft({}).view()), kExact)
          << "kind " << static_cast<int>(bias.kind) << ", strength " << bias.strength << ", seed " << seed;
    }
  }
}

TEST(DeclaredBias, SpendsNothingAtItsNeutralStrength) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const ToyDistributions distributions(4, seed, kTempers[seed % std::size(kTempers)]);
    for (const Bias& bias : {Bias{Bias::Kind::lenience, 1.0}, Bias{Bias::Kind::pareto, 0.0}}) {
      const Outcome outcome = every_round(distributions, of_shape({kRoot, 0}, Replacement::without), accept_with(bias));
      EXPECT_LT(slipstream::bias(distributions, outcome, 3), kExact);
    }
  }
}

// 2411.00841, Theorem 5: rejections and bias add up to the total variation of the two
// distributions.
TEST(DeclaredBias, OfParetoLiesOnTheStraightLine) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const ToyDistributions distributions(5, seed, kTempers[seed % std::size(kTempers)]);
    const TokenDistribution p = distributions.target({}).view(), q = distributions.draft({}).view();
    for (const double epsilon : {0.0, 0.02, 0.1, 0.3, 1.0}) {
      const Bias bias{Bias::Kind::pareto, epsilon};
      const double rejected =
          1 - every_round(distributions, of_shape({kRoot}, Replacement::without), accept_with(bias)).accepted;
      EXPECT_NEAR(rejected + spent(bias, p, q), total_variation(p, q), kExact);
      EXPECT_GE(spent({Bias::Kind::uniform, epsilon}, p, q), spent(bias, p, q) - kExact) << "Decoding-OPT is the best";
    }
  }
}

TEST(DeclaredBias, AddsUpAlongAChainToNoLessThanTheJointVariation) {
  const ToyDistributions distributions(3, 9, Temper::random);
  for (const Bias& bias : kBiases) {
    double told = 0;
    const Accept accept = [&](const DraftTree& sampled, TargetDistributions& target, RandomSource& random, AcceptScratch&) {
      BiasedWalk biased = accept_biased(sampled, bias, target, random);
      EXPECT_EQ(biased.spent.size(), biased.walk.emitted.size());
      told = 0;
      for (const double spent : biased.spent) told += spent;
      return biased.walk;
    };
    double mean = 0;
    std::map<Prefix, double> distribution;
    AcceptScratch scratch;
    Walk walk;
    EveryOutcome::of(
        [&](RandomSource& random) {
          const DraftTree sampled = of_shape({kRoot, 0}, Replacement::without)(distributions, random);
          ToyTargets targets(distributions, sampled.tokens());
          walk = accept(sampled, targets, random, scratch);
          walk.emitted.push_back(random.draw(distributions.target(walk.emitted).view()));  // two tokens in any case
        },
        [&](double probability) {
          mean += probability * told;
          distribution[{walk.emitted.begin(), walk.emitted.begin() + 2}] += probability;
        });
    double apart = 0;
    for (TokenId a = 0; a < 3; ++a) {
      for (TokenId b = 0; b < 3; ++b)
        apart += std::abs(distribution[{a, b}] - distributions.p({}, a) * distributions.p({a}, b)) / 2;
    }
    EXPECT_LE(apart, mean + kExact);
  }
}

TEST(DeclaredBias, AcceptsMoreTheFartherItMayStray) {
  EXPECT_DOUBLE_EQ(acceptance({Bias::Kind::lenience, 0.5}, 0.1, 0.4, 0), 0.5);
  EXPECT_DOUBLE_EQ(acceptance({Bias::Kind::pareto, 0.1}, 0.1, 0.4, 0), 0.5);
  EXPECT_DOUBLE_EQ(acceptance({Bias::Kind::uniform, 0.3}, 0.1, 0.4, 0), 1.0);
  EXPECT_DOUBLE_EQ(acceptance({Bias::Kind::typical, 0.3, 0.6}, 0.31, 0.4, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(acceptance({Bias::Kind::typical, 0.3, 0.6}, 0.1, 0.4, 1.0), 0.0) << "0.6 / e is 0.22";
  EXPECT_DOUBLE_EQ(acceptance({Bias::Kind::typical, 0.3, 0.6}, 0.25, 0.4, 1.0), 1.0);
  EXPECT_DOUBLE_EQ(acceptance({Bias::Kind::typical, 0.3, 0.6}, 0.25, 0.4, 0.0), 0.0) << "a model that is sure wants more";
}

TEST(DeclaredBias, RefusesStrengthsOutOfRange) {
  EXPECT_FALSE(validate({Bias::Kind::lenience, 0.0}));
  EXPECT_FALSE(validate({Bias::Kind::lenience, 1.1}));
  EXPECT_FALSE(validate({Bias::Kind::pareto, -0.1}));
  EXPECT_FALSE(validate({Bias::Kind::typical, 0.3, 2.0}));
  EXPECT_TRUE(validate({Bias::Kind::typical, 0.3, 0.09}));
}

}  // namespace
}  // namespace slipstream
