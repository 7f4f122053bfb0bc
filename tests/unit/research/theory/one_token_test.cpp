#include "research/theory/one_token.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/research/theory/every_answer.h"

namespace slipstream::theory {
namespace {

TEST(OneToken, IsRejectedAsOftenAsTheDistributionsAreApart) {
  const std::vector<double> p{0.6, 0.4}, q{0.8, 0.2};
  EXPECT_NEAR(rejection(p, q), 0.2, kExact);
  EXPECT_NEAR(rejection(p, p), 0, kExact);
}

// The product of total variations between q and what p becomes, as the paper writes it.
double product_of_variations(std::vector<double> p, const std::vector<double>& q, int drafts) {
  double product = 1;
  for (int draft = 0; draft < drafts; ++draft) {
    const double apart = rejection(p, q);
    product *= apart;
    for (size_t x = 0; x < p.size(); ++x) p[x] = std::max(p[x] - q[x], 0.0) / apart;
  }
  return product;
}

TEST(OneToken, OfABatchIsRejectedWithTheProductOfVariations) {
  const ChainPair pair = ChainPair::random({.horizon = 20}, 3);
  for (int n = 1; n <= pair.horizon(); ++n) {
    const std::vector<double> p(pair.p(n, 0).begin(), pair.p(n, 0).end()), q(pair.q(n, 0).begin(), pair.q(n, 0).end());
    for (int drafts = 1; drafts <= 6; ++drafts) {
      EXPECT_NEAR(batch_rejection(p, q, drafts), product_of_variations(p, q, drafts), kExact);
    }
  }
}

// That all drafts of a token are refused by the product's rule.
double refused_by_enumeration(const ChainPair& pair, int batch) {
  double refused = 0;
  every_answer<Answer>([&](RandomPair& random) { return decode_to_the_horizon(pair, {.drafts = batch}, by_ratio(), random); },
                       [&](const Answer& answer, double probability) { refused += probability * answer.rejections; });
  return refused;
}

TEST(OneToken, OfUniformDistributionsImprovesAsThePaperSays) {
  for (const int part : {1, 2, 4}) {  // of eight tokens
    std::vector<uint64_t> some(8, 0);
    std::fill_n(some.begin(), part, 1);
    const ChainPair pair =
        ChainPair::constant(distribution_of(some), distribution_of(std::vector<uint64_t>(8, kDraftDistributionTotal / 8)), 1);
    for (int drafts = 1; drafts <= 4; ++drafts) {
      const double improvement = rejection(pair.p(1, 0), pair.q(1, 0)) - batch_rejection(pair.p(1, 0), pair.q(1, 0), drafts);
      EXPECT_NEAR(uniform_batch_improvement(8.0 / part, drafts), improvement, kExact);
      if (drafts <= 3) {
        EXPECT_NEAR(refused_by_enumeration(pair, drafts), 1 - part / 8.0 - improvement, kExact);
      }
    }
  }
}

TEST(OneToken, OfBernoulliDistributionsImprovesAsThePaperSays) {
  for (const double u : {0.125, 0.5, 0.875}) {
    for (const double v : {0.25, 0.5, 0.75}) {
      const auto weight = [](double share) { return static_cast<uint64_t>(share * kDraftDistributionTotal); };
      const ChainPair pair =
          ChainPair::constant(distribution_of({weight(1 - u), weight(u)}), distribution_of({weight(1 - v), weight(v)}), 1);
      for (int drafts = 1; drafts <= 5; ++drafts) {
        const double rejected = std::abs(u - v) - bernoulli_batch_improvement(u, v, drafts);
        EXPECT_NEAR(batch_rejection(pair.p(1, 0), pair.q(1, 0), drafts), rejected, kExact);
        EXPECT_NEAR(refused_by_enumeration(pair, drafts), rejected, kExact) << u << ", " << v << ", " << drafts;
      }
    }
  }
}

TEST(OneToken, OfAnEndlessBatchIsRejectedOnlyWhereTheDraftCannotReach) {
  const std::vector<double> p{0.5, 0.3, 0.2}, all{0.2, 0.3, 0.5}, two{0.9, 0.1, 0};
  EXPECT_EQ(endless_batch_rejection(p, all), 0);
  EXPECT_NEAR(batch_rejection(p, all, 1000), 0, kExact);
  EXPECT_NEAR(endless_batch_rejection(p, two), 0.2, kExact);
  EXPECT_NEAR(batch_rejection(p, two, 1000), 0.2, kExact);
}

}  // namespace
}  // namespace slipstream::theory
