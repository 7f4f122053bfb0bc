#include "tools/statistics/two_samples.h"

#include <array>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "tools/statistics/chi_square_distribution.h"

namespace slipstream::statistics {
namespace {

using TokenDistribution = std::vector<double>;

std::vector<Pair> draw(const TokenDistribution& reference, const TokenDistribution& candidate, int draws,
                       std::mt19937_64& random) {
  std::discrete_distribution<size_t> from_reference(reference.begin(), reference.end());
  std::discrete_distribution<size_t> from_candidate(candidate.begin(), candidate.end());
  std::vector<Pair> counts(reference.size());
  for (int i = 0; i < draws; ++i) {
    counts[from_reference(random)].reference += 1;
    counts[from_candidate(random)].candidate += 1;
  }
  return counts;
}

// The share of `trials` in which the whole procedure rejects at level alpha.
double rejected(const TokenDistribution& reference, const TokenDistribution& candidate, int draws, double alpha, int trials) {
  std::mt19937_64 random(7);
  int count = 0;
  for (int i = 0; i < trials; ++i)
    if (compare(pool(draw(reference, candidate, draws, random))).p_value <= alpha) ++count;
  return static_cast<double>(count) / trials;
}

const TokenDistribution kUneven{0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.04, 0.03, 0.01, 0.005, 0.005, 0.004, 0.003, 0.002, 0.001};

TEST(TwoSamples, StatisticOfATwoByTwoTableIsTheClassicOne) {
  const std::vector<Cell> cells{{{0}, {30, 20}}, {{1}, {70, 80}}};
  const ChiSquare test = compare(cells);
  EXPECT_NEAR(test.statistic, 200.0 * (30 * 80 - 20 * 70) * (30 * 80 - 20 * 70) / (100.0 * 100 * 50 * 150), 1e-12);
  EXPECT_EQ(test.degrees, 1);
}

TEST(TwoSamples, SidesMayBeUnequal) {
  const ChiSquare test = compare(std::vector<Cell>{{{0}, {300, 30}}, {{1}, {700, 70}}});
  EXPECT_NEAR(test.statistic, 0, 1e-12);
  EXPECT_NEAR(test.p_value, 1, 1e-12);
}

TEST(TwoSamples, OneCellTellsNothing) {
  const ChiSquare test = compare(pool(std::vector<Pair>{{100, 100}}));
  EXPECT_EQ(test.degrees, 0);
  EXPECT_EQ(test.p_value, 1);
}

TEST(TwoSamples, ACategoryThatOneSideNeverDrawsCountsInFull) {
  EXPECT_LT(compare(pool(std::vector<Pair>{{500, 500}, {0, 40}, {40, 0}})).p_value, 1e-15);
}

TEST(Pooling, IsBlindToSides) {
  const std::vector<Pair> counts{{50, 40}, {9, 0}, {0, 9}, {30, 35}, {4, 3}};
  std::vector<Pair> swapped;
  for (const Pair& count : counts) swapped.push_back({count.candidate, count.reference});
  const auto cells = pool(counts), others = pool(swapped);
  ASSERT_EQ(cells.size(), others.size());
  for (size_t i = 0; i < cells.size(); ++i) EXPECT_EQ(cells[i].categories, others[i].categories);
}

TEST(Pooling, PutsWhatIsRareIntoOneCell) {
  const auto cells = pool(std::vector<Pair>{{1, 2}, {50, 50}, {3, 3}, {20, 20}, {2, 2}});
  ASSERT_EQ(cells.size(), 3U);
  EXPECT_EQ(cells[2].categories, (std::vector<size_t>{2, 4, 0}));
  EXPECT_EQ(cells[2].count.both(), 13);
}

TEST(Pooling, JoinsARestThatIsItselfTooSmallToTheRarestCell) {
  const auto cells = pool(std::vector<Pair>{{1, 2}, {50, 50}, {20, 20}});
  ASSERT_EQ(cells.size(), 2U);
  EXPECT_EQ(cells[1].categories, (std::vector<size_t>{2, 0}));
}

TEST(Pooling, KeepsNoMoreCellsThanItsLimit) { EXPECT_EQ(pool(std::vector<Pair>(300, Pair{20, 20})).size(), kCellsMax); }

TEST(Pooling, LosesNoDraw) {
  std::mt19937_64 random(3);
  double reference = 0;
  for (const Cell& cell : pool(draw(kUneven, kUneven, 1000, random))) reference += cell.count.reference;
  EXPECT_EQ(reference, 1000);
}

// 4,000 trials: the shares' standard errors are 0.0034 and 0.0016.
TEST(TwoSamples, FalseAlarmsAreAsRareAsAlphaSays) {
  EXPECT_NEAR(rejected(kUneven, kUneven, 500, 0.05, 4000), 0.05, 0.012);
  EXPECT_NEAR(rejected(kUneven, kUneven, 500, 0.01, 4000), 0.01, 0.006);
}

// The worst case: every cell moves by the same part of itself. Then the formula is exact, so that
// more power would be as wrong as less.
TEST(TwoSamples, DrawsForAShiftFindItWithThePowerStated) {
  const double shift = 0.05;
  const TokenDistribution even(8, 0.125);
  TokenDistribution moved = even;
  for (size_t i = 0; i < moved.size(); ++i) moved[i] *= i % 2 == 0 ? 1 + 2 * shift : 1 - 2 * shift;
  const double draws = draws_for(7, 0.01, 0.9, shift);
  EXPECT_NEAR(rejected(even, moved, static_cast<int>(draws), 0.01, 2000), 0.9, 0.03);
}

TEST(TwoSamples, AShiftOnARareCategoryIsFoundSooner) {
  const double shift = 0.05;
  TokenDistribution moved = kUneven;
  moved[0] -= shift;
  moved[8] += shift;
  const double draws = draws_for(14, 0.01, 0.9, shift);
  EXPECT_GT(rejected(kUneven, moved, static_cast<int>(draws), 0.01, 200), 0.99);
}

TEST(TwoSamples, ShiftFoundIsTheInverseOfDrawsFor) {
  EXPECT_NEAR(shift_found(20, 1e-3, 0.99, draws_for(20, 1e-3, 0.99, 0.01)), 0.01, 1e-6);
}

}  // namespace
}  // namespace slipstream::statistics
