#include "research/theory/leviathan.h"

#include <gtest/gtest.h>

#include "research/theory/one_token.h"
#include "research/theory/round_length.h"
#include "tests/unit/research/theory/every_answer.h"

namespace slipstream::theory {
namespace {

double first_round_by_enumeration(const ChainPair& pair, int drafts, const Verify& verify) {
  double mean = 0;
  every_answer<int>([&](RandomPair& random) { return decode_one_round(pair, {.length_max = drafts}, verify, random); },
                    [&](const int& tokens, double probability) { mean += probability * tokens; });
  return mean;
}

TEST(Leviathan, ExpectsTheTokensThatARoundOfTheProductEmits) {
  const ChainPair pair = ChainPair::constant(distribution_of({3, 1}),
                                             distribution_of({kDraftDistributionTotal / 2, kDraftDistributionTotal / 2}), 4);
  const double alpha = 1 - rejection(pair.p(1, 0), pair.q(1, 0));
  EXPECT_NEAR(alpha, 0.75, kExact);
  for (int gamma = 0; gamma <= 3; ++gamma) {
    EXPECT_NEAR(first_round_by_enumeration(pair, gamma, by_ratio()), expected_tokens(alpha, gamma), kExact);
  }
  EXPECT_EQ(expected_tokens(1, 4), 5);
  EXPECT_EQ(expected_tokens(0, 4), 1);
}

TEST(Leviathan, PaysOnlyAboveTheCostOfADraft) {
  EXPECT_EQ(best_draft_length(0.1, 0.1), 0);
  EXPECT_EQ(best_draft_length(0.1, 0.2), 0);
  EXPECT_NEAR(walltime_improvement(0.8, 1, 0.1), 1.8 / 1.1, kExact) << "Corollary 3.9: (1 + alpha) / (1 + c)";
  EXPECT_GE(best_draft_length(0.11, 0.1), 1);
}

TEST(Leviathan, FindsTheBestLengthOfAll) {
  for (double alpha = 0.05; alpha < 0.99; alpha += 0.05) {
    for (const double c : {0.01, 0.05, 0.3}) {
      const double best = walltime_improvement(alpha, best_draft_length(alpha, c), c);
      for (int gamma = 0; gamma <= 200; ++gamma) EXPECT_LE(walltime_improvement(alpha, gamma, c), best);
    }
  }
}

// Table 1 of 2211.17192: alpha 0.8 and gamma 5 give 3.69 times the speed at c = 0 and 1.63 times
// the operations at c_hat = 0.
TEST(Leviathan, GivesTheFiguresOfThePapersTable) {
  EXPECT_NEAR(walltime_improvement(0.8, 5, 0), 3.69, 0.005);
  EXPECT_NEAR(operations_factor(0.8, 5, 0), 1.63, 0.005);
  EXPECT_NEAR(walltime_improvement(0.6, 2, 0), 1.96, 0.005);
  EXPECT_NEAR(operations_factor(0.6, 2, 0), 1.53, 0.005);
}

TEST(RoundLength, IsExactForBothRulesOverNonStationaryChains) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const ChainPair pair = ChainPair::random({.vocabulary = 3, .horizon = 3, .hard = 0.6}, seed);
    for (int drafts = 0; drafts <= 2; ++drafts) {
      const double ratio = expected_round_by_ratio(pair, drafts), block = expected_round_by_block(pair, drafts);
      EXPECT_NEAR(first_round_by_enumeration(pair, drafts, by_ratio()), ratio, kExact);
      EXPECT_NEAR(first_round_by_enumeration(pair, drafts, by_traversal()), block, kExact);
      EXPECT_GE(block, ratio - kExact);
    }
  }
}

}  // namespace
}  // namespace slipstream::theory
