#include "research/theory/chain_rejections.h"

#include <gtest/gtest.h>

#include "research/theory/one_token.h"
#include "tests/unit/research/theory/every_answer.h"

namespace slipstream::theory {
namespace {

struct Mean {
  double rejections = 0, spent = 0, bias = 0;
};

Mean by_enumeration(const ChainPair& pair, const Batch& batch, const Verify& verify) {
  Mean mean;
  std::map<std::vector<TokenId>, double> distribution;
  every_answer<Answer>([&](RandomPair& random) { return decode_to_the_horizon(pair, batch, verify, random); },
                       [&](const Answer& answer, double probability) {
                         mean.rejections += probability * answer.rejections;
                         mean.spent += probability * answer.spent;
                         distribution[answer.tokens] += probability;
                       });
  mean.bias = bias_of_answers(pair, distribution);
  return mean;
}

TEST(ChainRejections, AreTheSumOfVariationsOfTheorem1) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const ChainPair pair = ChainPair::random({.vocabulary = 3, .horizon = 3, .hard = seed % 2 == 0 ? 1.0 : 0.5}, seed);
    const Mean mean = by_enumeration(pair, {}, by_ratio());
    EXPECT_NEAR(mean.rejections, expected_rejections(pair), kExact);
    EXPECT_LT(mean.bias, kExact) << "the answer is the target's";
  }
}

TEST(ChainRejections, OfBatchesAreThoseOfTheorem3) {
  for (const auto& [vocabulary, horizon, batch] : {std::tuple{2, 3, 2}, {2, 2, 3}, {3, 2, 2}, {2, 2, 4}}) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      const ChainPair pair = ChainPair::random({.vocabulary = vocabulary, .horizon = horizon}, seed);
      const Mean mean = by_enumeration(pair, {.drafts = batch}, by_ratio());
      EXPECT_NEAR(mean.rejections, expected_batch_rejections(pair, batch).rejections(), kExact)
          << vocabulary << horizon << batch;
      EXPECT_LT(mean.bias, kExact);
    }
  }
}

// A path whose draft goes on in the next round, alone, is judged as if it had been sampled at once.
TEST(ChainRejections, DoNotDependOnHowFarARoundDraws) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const ChainPair pair = ChainPair::random({.vocabulary = 2, .horizon = 4}, seed);
    for (int ahead = 1; ahead <= 2; ++ahead) {
      const Mean mean = by_enumeration(pair, {.drafts = 2, .ahead = ahead}, by_ratio());
      EXPECT_NEAR(mean.rejections, expected_batch_rejections(pair, 2).rejections(), kExact) << ahead;
      EXPECT_LT(mean.bias, kExact);
    }
  }
}

// Proposition 1: more drafts help ever less, down to a limit that is not 0.
TEST(ChainRejections, FallWithTheBatchToALimitAboveZero) {
  const ChainPair pair = ChainPair::random({}, 11);
  double last = expected_rejections(pair);
  EXPECT_EQ(expected_batch_rejections(pair, 1).improvement, 0);
  const double limit = expected_batch_rejections(pair, kEndlessBatch).rejections();
  EXPECT_GT(limit, 1);
  for (int batch = 2; batch <= 64; batch *= 2) {
    const double rejections = expected_batch_rejections(pair, batch).rejections();
    EXPECT_LT(rejections, last);
    EXPECT_GT(rejections, limit);
    last = rejections;
  }
  const ChainPair small = ChainPair::random({.vocabulary = 3, .horizon = 10}, 11);  // no token that q hardly ever draws
  EXPECT_NEAR(expected_batch_rejections(small, 5000).rejections(), expected_batch_rejections(small, kEndlessBatch).rejections(),
              kExact);
}

TEST(ChainRejections, OfABiasedRuleFollowTheDistributionThatItEmits) {
  const ChainPair pair = ChainPair::random({.vocabulary = 3, .horizon = 3}, 21);
  for (const Bias& bias : {Bias{Bias::Kind::lenience, 0.5}, Bias{Bias::Kind::lenience, 2.0}, Bias{Bias::Kind::pareto, 0.1},
                           Bias{Bias::Kind::uniform, 0.1}, Bias{Bias::Kind::typical, 0.3, 0.6}}) {
    const BiasedChain theory = expected_biased(pair, [&](Shares p, Shares q) { return rule_of(bias, p, q); });
    const Mean mean = by_enumeration(pair, {}, by_bias(bias));
    EXPECT_NEAR(mean.rejections, theory.rejections, kExact) << static_cast<int>(bias.kind);
    if (bias.strength <= 1) {
      EXPECT_NEAR(mean.spent, theory.spent, kExact) << static_cast<int>(bias.kind);
    }
  }
}

TEST(ChainRejections, OfAStrictRuleAreMoreAndItsAnswerIsTheTargets) {
  const ChainPair pair = ChainPair::random({.vocabulary = 3, .horizon = 3}, 5);
  const Mean strict = by_enumeration(pair, {}, by_bias({Bias::Kind::lenience, 1.5}));
  EXPECT_LT(strict.bias, kExact);
  EXPECT_GT(strict.rejections, expected_rejections(pair) + 0.1);
}

}  // namespace
}  // namespace slipstream::theory
