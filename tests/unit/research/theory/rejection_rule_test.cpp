#include "research/theory/rejection_rule.h"

#include <gtest/gtest.h>

#include "kernels/exact/noise.h"
#include "tests/unit/research/theory/every_answer.h"

namespace slipstream::theory {
namespace {

// Distributions of all kinds: one row after another of chains that are unrelated, and that are
// near.
template <class Check>
void for_each_pair_of_distributions(const Check& check) {
  for (const double hard : {1.0, 0.0}) {
    const ChainPair pair = ChainPair::random({.vocabulary = 5, .horizon = 40, .hard = hard}, 17);
    for (int n = 1; n <= pair.horizon(); ++n) check(pair.p(n, 0), pair.q(n, 0));
  }
}

class Numbers {  // in [0, 1), one after another
 public:
  double next() {
    const PhiloxWords words = philox({{at_++, 0, 0, 0}}, 99);
    return noise_uniform(words.word[0], words.word[1]);
  }
  std::vector<double> distribution(size_t tokens) {
    std::vector<double> distribution;
    double sum = 0;
    for (size_t x = 0; x < tokens; ++x) sum += distribution.emplace_back(next());
    for (double& share : distribution) share /= sum;
    return distribution;
  }

 private:
  uint32_t at_ = 0;
};

TEST(RejectionRule, OfTheUnbiasedFamilyNeverRejectsLessThanSpeculativeDecoding) {
  for_each_pair_of_distributions([](Shares p, Shares q) {
    for (const NamedRule& member : unbiased_family(p, q)) {
      EXPECT_LT(bias(member.rule, p, q), kExact) << member.name;
      EXPECT_GE(rejection(member.rule, q), total_variation(p, q) - kExact) << member.name;
    }
    EXPECT_NEAR(rejection(unbiased_family(p, q).front().rule, q), total_variation(p, q), kExact);
  });
}

TEST(RejectionRule, WithTheBestOtherDistributionHasTheBiasOfTheorem4AndNoDistributionHasLess) {
  Numbers numbers;
  for_each_pair_of_distributions([&](Shares p, Shares q) {
    std::vector<double> b;
    for (size_t x = 0; x < p.size(); ++x) b.push_back(numbers.next());
    RejectionRule rule = with_best_other(b, p, q);
    const double least = bias(rule, p, q);
    EXPECT_NEAR(least, least_bias(b, p, q), kExact);
    for (int attempt = 0; attempt < 100; ++attempt) {
      rule.other = numbers.distribution(p.size());
      EXPECT_GE(bias(rule, p, q), least - kExact);
    }
  });
}

TEST(RejectionRule, ThatLeansLiesOnTheStraightLineOfTheorem5) {
  for_each_pair_of_distributions([](Shares p, Shares q) {
    for (const double strength : {0.05, 0.2, 0.6, 1.0}) {
      for (const Bias::Kind kind : {Bias::Kind::lenience, Bias::Kind::pareto}) {
        const RejectionRule rule = rule_of({kind, strength}, p, q);
        EXPECT_NEAR(rejection(rule, q) + bias(rule, p, q), total_variation(p, q), kExact);
      }
      EXPECT_GE(bias(rule_of({Bias::Kind::uniform, strength}, p, q), p, q),
                bias(rule_of({Bias::Kind::pareto, strength}, p, q), p, q) - kExact);
    }
  });
}

TEST(RejectionRule, NeverLiesBelowTheLine) {
  Numbers numbers;
  for_each_pair_of_distributions([&](Shares p, Shares q) {
    for (int attempt = 0; attempt < 100; ++attempt) {
      RejectionRule rule{.other = numbers.distribution(p.size())};
      for (size_t x = 0; x < p.size(); ++x) rule.b.push_back(numbers.next());
      EXPECT_GE(rejection(rule, q) + bias(rule, p, q), total_variation(p, q) - kExact);
    }
  });
}

// The formulas against what the product declares and does.
TEST(RejectionRule, OfTheProductIsWhatTheProductRuns) {
  const ChainPair pair = ChainPair::random({.vocabulary = 5, .horizon = 1}, 8);
  const Bias biases[] = {{Bias::Kind::lenience, 0.4},
                         {Bias::Kind::lenience, 3.0},
                         {Bias::Kind::pareto, 0.07},
                         {Bias::Kind::uniform, 0.07},
                         {Bias::Kind::typical, 0.3, 0.6}};
  for (const Bias& kind : biases) {
    std::vector<double> distribution(5, 0.0), theory(5, 0.0);
    double rejected = 0, declared = 0, by_theory = 0, spent_by_theory = 0;
    every_answer<Answer>([&](RandomPair& random) { return decode_to_the_horizon(pair, {}, by_bias(kind), random); },
                         [&](const Answer& answer, double probability) {
                           distribution[static_cast<size_t>(answer.tokens[0])] += probability;
                           rejected += probability * answer.rejections;
                           declared += probability * answer.spent;
                         });
    for (TokenId prompt = 0; prompt < 5; ++prompt) {
      const Shares p = pair.p(1, prompt), q = pair.q(1, prompt);
      const RejectionRule rule = rule_of(kind, p, q);
      const std::vector<double> out = emitted(rule, q);
      for (size_t x = 0; x < 5; ++x) theory[x] += out[x] / 5;
      by_theory += rejection(rule, q) / 5;
      spent_by_theory += bias(rule, p, q) / 5;
    }
    EXPECT_NEAR(rejected, by_theory, kExact);
    EXPECT_NEAR(declared, spent_by_theory, kExact);
    for (size_t x = 0; x < 5; ++x) EXPECT_NEAR(distribution[x], theory[x], kExact);
  }
}

}  // namespace
}  // namespace slipstream::theory
