#include "tools/statistics/excess.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace slipstream::statistics {
namespace {

using TokenDistribution = std::vector<double>;

constexpr size_t kCells = 40;

// Every cell of `distribution` moves by the same part of itself, half of the mass up and half down:
// the direction that is hardest to see.
TokenDistribution moved(const TokenDistribution& distribution, double variation) {
  TokenDistribution other = distribution;
  for (size_t cell = 0; cell < distribution.size(); ++cell) other[cell] *= 1 + (cell % 2 == 0 ? 2 : -2) * variation;
  return other;
}

// What the candidate declares: `mean` on average, a few draws much and the others nothing.
std::vector<double> declared(size_t draws, double mean, std::mt19937_64& random) {
  std::bernoulli_distribution spends(0.2);
  std::vector<double> declared(draws);
  for (double& each : declared) each = spends(random) ? mean / 0.2 : 0;
  return declared;
}

Excess sampled(const TokenDistribution& reference, const TokenDistribution& candidate, double mean, size_t draws,
               std::mt19937_64& random) {
  std::discrete_distribution<size_t> from_reference(reference.begin(), reference.end());
  std::discrete_distribution<size_t> from_candidate(candidate.begin(), candidate.end());
  std::vector<size_t> ours, theirs;
  for (size_t i = 0; i < draws; ++i) {
    ours.push_back(from_reference(random));
    theirs.push_back(from_candidate(random));
  }
  return excess(ours, theirs, declared(draws, mean, random));
}

// The share of `trials` in which the test rejects at level alpha.
double rejected(const TokenDistribution& reference, const TokenDistribution& candidate, double mean, size_t draws, double alpha,
                int trials) {
  std::mt19937_64 random(3);
  int count = 0;
  for (int i = 0; i < trials; ++i) count += sampled(reference, candidate, mean, draws, random).p_value <= alpha ? 1 : 0;
  return static_cast<double>(count) / trials;
}

const TokenDistribution kEven(kCells, 1.0 / kCells);

TEST(Excess, SeldomCriesWolfWhereAllThatIsDeclaredIsSpent) {
  // The event of two halves: all of the shift lies on it, so that the test stands on the border of
  // what it allows.
  const TokenDistribution reference{0.5, 0.5}, candidate{0.56, 0.44};
  constexpr int kTrials = 4000;
  for (const double alpha : {0.05, 0.01}) {
    const double share = rejected(reference, candidate, 0.06, 2000, alpha, kTrials);
    EXPECT_LE(share, alpha + 4 * std::sqrt(alpha * (1 - alpha) / kTrials)) << alpha;
    EXPECT_GE(share, alpha / 2) << "it is no looser than it says";
  }
}

TEST(Excess, SeldomCriesWolfOverManyCellsOfOneDistribution) {
  EXPECT_LE(rejected(kEven, kEven, 0, 1000, 0.01, 4000), 0.01 + 4 * std::sqrt(0.01 * 0.99 / 4000));
}

TEST(Excess, FindsWithThePowerStatedWhatIsNotDeclared) {
  constexpr double kAlpha = 1e-3, kPower = 0.99, kDeclared = 0.03;
  constexpr size_t kDraws = 8000;
  const double found = excess_found({.cells = kCells, .varies = 2 * kDeclared}, kAlpha, kPower, kDraws);
  EXPECT_LT(found, 0.12);
  EXPECT_GE(rejected(kEven, moved(kEven, kDeclared + found), kDeclared, kDraws, kAlpha, 400), kPower);
  EXPECT_LE(rejected(kEven, moved(kEven, kDeclared), kDeclared, kDraws, kAlpha, 400), 0.01) << "that much was declared";
}

TEST(Excess, TellsShiftAndDeclarationOfTheJudgingHalf) {
  const std::vector<size_t> reference{0, 0, 1, 1, 0, 0, 0, 1}, candidate{1, 1, 1, 1, 1, 1, 1, 0};
  const std::vector<double> declared{9, 9, 9, 9, 0.5, 0, 0.5, 0};
  const Excess few = excess(reference, candidate, declared);
  EXPECT_EQ(few.cells, 1U) << "eight draws fill no cell of ten";
  std::vector<size_t> many_reference, many_candidate;
  std::vector<double> many_declared;
  for (size_t half = 0; half < 2; ++half) {
    for (size_t i = 0; i < 400; ++i) {
      many_reference.push_back(reference[4 * half + i % 4]);
      many_candidate.push_back(candidate[4 * half + i % 4]);
      many_declared.push_back(declared[4 * half + i % 4]);
    }
  }
  const Excess many = excess(many_reference, many_candidate, many_declared);
  EXPECT_EQ(many.cells, 2U);
  EXPECT_DOUBLE_EQ(many.shift, 0.75 - 0.25);
  EXPECT_DOUBLE_EQ(many.declared, 0.25);
  EXPECT_LT(many.p_value, 1e-6);
}

TEST(Excess, OfDistributionsWithNothingInCommonIsFoundThoughNothingVaries) {
  const std::vector<size_t> a(100, 0), b(100, 1);
  EXPECT_LT(excess(a, b, std::vector<double>(100, 0.25)).p_value, 1e-6);
  EXPECT_GT(excess(a, b, std::vector<double>(100, 1.0)).p_value, 0.4) << "all of it is declared";
}

TEST(Excess, DrawsAndWhatTheyFindAreEachOthersInverse) {
  const Excess of{.cells = kCells, .varies = 0.1};
  EXPECT_NEAR(excess_found(of, 1e-3, 0.99, draws_for_excess(of, 1e-3, 0.99, 0.05)), 0.05, 1e-5);
}

TEST(Excess, NothingIsToldByNoDraws) { EXPECT_EQ(excess({}, {}, {}).p_value, 1); }

}  // namespace
}  // namespace slipstream::statistics
