#include "research/theory/passes.h"

#include <gtest/gtest.h>

#include "tests/unit/research/theory/every_answer.h"

namespace slipstream::theory {
namespace {

constexpr PassTimes kTimes;

void expect_identity(const Passes& passes) {
  EXPECT_EQ(passes.drafted + passes.verified, passes.tokens + passes.discarded);
  EXPECT_NEAR(total_time(passes, kTimes), total_time_by_losses(passes, kTimes), kExact);
  EXPECT_NEAR(latency(passes, kTimes) * passes.tokens, total_time(passes, kTimes), kExact);
}

Passes by_enumeration(const ChainPair& pair, const LengthPolicy& policy, const Verify& verify) {
  Passes mean;
  std::map<std::vector<TokenId>, double> distribution;
  every_answer<CountedAnswer>([&](RandomPair& random) { return decode_in_rounds(pair, policy, verify, random); },
                              [&](const CountedAnswer& answer, double probability) {
                                expect_identity(answer.passes);
                                EXPECT_EQ(answer.passes.tokens, pair.horizon());
                                const Passes& of = answer.passes;
                                mean += {of.tokens * probability, of.drafted * probability, of.verified * probability,
                                         of.discarded * probability};
                                distribution[answer.tokens] += probability;
                              });
  EXPECT_LT(bias_of_answers(pair, distribution), kExact);
  return mean;
}

TEST(Passes, OfAFixedLengthAreExact) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const ChainPair pair = ChainPair::random({.vocabulary = 2, .horizon = 4, .hard = 0.7}, seed);
    for (int length = 0; length <= 3; ++length) {
      const Passes mean = by_enumeration(pair, {.length_max = length}, by_ratio()), theory = expected_passes(pair, length);
      EXPECT_NEAR(mean.drafted, theory.drafted, kExact);
      EXPECT_NEAR(mean.verified, theory.verified, kExact);
      EXPECT_NEAR(mean.discarded, theory.discarded, kExact);
      EXPECT_NEAR(theory.drafted + theory.verified, theory.tokens + theory.discarded, kExact);
    }
  }
}

TEST(Passes, AreThoseOfPlainDecodingWithoutDrafts) {
  const Passes plain = expected_passes(ChainPair::random({.horizon = 9}, 1), 0);
  EXPECT_EQ(plain.drafted, 0);
  EXPECT_NEAR(plain.verified, 9, kExact);
}

TEST(Passes, AddUpAndTheAnswerIsTheTargetsWhateverStopsARound) {
  const ChainPair pair = ChainPair::random({.vocabulary = 2, .horizon = 4, .hard = 0.7}, 6);
  for (const double threshold : {0.1, 0.5}) {
    for (const auto stop : {LengthPolicy::Stop::exact, LengthPolicy::Stop::confidence}) {
      by_enumeration(pair, {.length_max = 3, .stop = stop, .threshold = threshold}, by_ratio());
      by_enumeration(pair, {.length_max = 3, .stop = stop, .threshold = threshold}, by_traversal());
    }
  }
}

// What is drafted under a perfect head, by hand: p and q share 3/4 of a token. A draft that is
// surely accepted goes on; one that may be refused (1 - p/q = 1/2) ends the round at a threshold
// below that.
TEST(Passes, OfAPerfectHeadEndARoundBehindTheFirstDoubtfulDraft) {
  const ChainPair pair = ChainPair::constant(distribution_of({3, 1}),
                                             distribution_of({kDraftDistributionTotal / 2, kDraftDistributionTotal / 2}), 3);
  const auto drafted_at = [&](double threshold) {
    return by_enumeration(pair, {.length_max = 2, .stop = LengthPolicy::Stop::exact, .threshold = threshold}, by_ratio())
        .drafted;
  };
  EXPECT_NEAR(drafted_at(0.6), expected_passes(pair, 2).drafted, kExact);
  // Of three tokens: a sure first draft (1/2) brings a second one, and the answer is done or one
  // token short, which is drafted for no more. A doubtful one is alone; accepted (1/4), it leaves
  // one token; refused (1/4), two, and so one draft more.
  EXPECT_NEAR(drafted_at(0.4), 0.5 * 2 + 0.25 * 1 + 0.25 * 2, kExact);
}

// The same distributions over four tokens: only a second doubtful draft (1 - 1/4) is beyond 0.6,
// and after two of them (1/4) the round has two drafts instead of three. What comes after has no
// room for more than two.
TEST(Passes, OfAPerfectHeadMultiplyTheChancesOfARound) {
  const ChainPair pair = ChainPair::constant(distribution_of({3, 1}),
                                             distribution_of({kDraftDistributionTotal / 2, kDraftDistributionTotal / 2}), 4);
  const LengthPolicy policy{.length_max = 3, .stop = LengthPolicy::Stop::exact, .threshold = 0.6};
  EXPECT_NEAR(by_enumeration(pair, policy, by_ratio()).drafted, expected_passes(pair, 3).drafted - 0.25, kExact);
}

// --- Lemma 2.1.

TEST(Oracle, DiscardsNothingAndVerifiesOncePerDisagreementAndOnceMore) {
  int ended_with_one = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const ChainPair pair = ChainPair::random({.horizon = 20, .hard = 0.4}, seed);
    for (TokenId prompt = 0; prompt < pair.vocabulary(); ++prompt) {
      const std::vector<int> apart = disagreements(pair, prompt);
      const Passes theory = oracle_passes(apart, pair.horizon());
      const CountedAnswer oracle = decode_greedily_by_oracle(pair, prompt, apart);
      EXPECT_EQ(oracle.passes.discarded, 0);
      EXPECT_EQ(oracle.passes.verified, theory.verified);
      EXPECT_EQ(oracle.passes.drafted, theory.drafted);
      expect_identity(oracle.passes);
      ended_with_one += !apart.empty() && apart.back() == pair.horizon() ? 1 : 0;
    }
  }
  EXPECT_GT(ended_with_one, 10) << "both ends of an answer were met";
}

TEST(Oracle, IsNeverSlowerThanAnyOtherPolicyAndSaysTheSameWords) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const ChainPair pair = ChainPair::random({.horizon = 20, .hard = 0.4}, seed);
    const CountedAnswer oracle = decode_greedily_by_oracle(pair, 0, disagreements(pair, 0));
    for (int length = 0; length <= 12; ++length) {
      for (const double threshold : {0.2, 0.9, 1.0}) {
        const CountedAnswer other =
            decode_greedily(pair, 0, {.length_max = length, .stop = LengthPolicy::Stop::confidence, .threshold = threshold});
        EXPECT_EQ(other.tokens, oracle.tokens);
        EXPECT_GE(total_time(other.passes, kTimes), total_time(oracle.passes, kTimes) - kExact);
        expect_identity(other.passes);
      }
    }
  }
}

}  // namespace
}  // namespace slipstream::theory
