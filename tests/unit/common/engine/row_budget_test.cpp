#include "common/engine/row_budget.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::Each;
using testing::ElementsAre;

DraftCandidate chain(double alpha, int nodes) { return {.gains = chain_gains(alpha, nodes)}; }

CostModel cost(double step, double row) {
  StepTimes times;
  for (size_t i = 0; i < times.size(); ++i) times[i] = step + row * kCostRows[i];
  return {times, {}};
}

TEST(RowBudget, GivesAllThatIsWantedWhereRowsAreFree) {
  const std::vector<DraftCandidate> two{chain(0.1, 7), chain(0.9, 63)};
  EXPECT_THAT(split_row_budget(two, {2, 0}, cost(1, 0)), ElementsAre(7, 63));
}

TEST(RowBudget, GivesNothingWhereARowCostsAsMuchAsItsToken) {
  const std::vector<DraftCandidate> eight(8, chain(0.9, 8));
  EXPECT_THAT(split_row_budget(eight, {8, 0}, cost(0, 1)), Each(0));
}

TEST(RowBudget, GivesMoreToWhoIsAcceptedMore) {
  const std::vector<DraftCandidate> two{chain(0.3, 16), chain(0.8, 16)};
  const auto shares = split_row_budget(two, {2, 0}, cost(1, 0.05));
  EXPECT_LT(shares[0], shares[1]);
  EXPECT_GT(shares[0], 0);
}

TEST(RowBudget, GivesLessToEachTheMoreThereAre) {
  int before = 64;
  for (const int32_t sequences : {1, 4, 16, 32}) {
    const std::vector<DraftCandidate> all(static_cast<size_t>(sequences), chain(0.7, 63));
    const int share = split_row_budget(all, {sequences, 0}, cost(1, 0.03)).front();
    EXPECT_LT(share, before) << sequences;
    before = share;
  }
}

// Against every possible sharing of up to four nodes among three sequences.
TEST(RowBudget, IsTheBestOfAllSharings) {
  for (const double row : {0.01, 0.1, 0.2, 0.4, 0.8}) {
    const std::vector<DraftCandidate> three{chain(0.2, 4), chain(0.6, 4), chain(0.9, 4)};
    const CostModel model = cost(1, row);
    const auto speed = [&](std::span<const int> shares) {
      double tokens = 0;
      int32_t rows = 3;
      for (size_t i = 0; i < 3; ++i) {
        ++tokens;
        for (int node = 0; node < shares[i]; ++node) tokens += three[i].gains[static_cast<size_t>(node)];
        rows += shares[i];
      }
      return tokens / model.seconds({rows, 0});
    };
    double best = 0;
    for (int a = 0; a <= 4; ++a) {
      for (int b = 0; b <= 4; ++b) {
        for (int c = 0; c <= 4; ++c) best = std::max(best, speed(std::vector{a, b, c}));
      }
    }
    EXPECT_NEAR(speed(split_row_budget(three, {3, 0}, model)), best, 1e-12) << "rows at " << row;
  }
}

// Leviathan et al., 3.8: a chain of gamma guesses at the price c each speeds up by (1 - a^(g+1)) /
// ((1 - a)(g c + 1)).
TEST(RowBudget, OfOneSequenceIsTheOptimalGuessOfLeviathan) {
  for (const double alpha : {0.3, 0.6, 0.8, 0.9}) {
    for (const double c : {0.02, 0.05, 0.2}) {
      int best = 0;
      double most = 0;
      for (int gamma = 0; gamma <= 40; ++gamma) {
        const double speed = (1 - std::pow(alpha, gamma + 1)) / ((1 - alpha) * (gamma * c + 1));
        if (speed > most) most = speed, best = gamma;
      }
      EXPECT_THAT(split_row_budget(std::vector{chain(alpha, 40)}, {1, 0}, cost(1 - c, c)), ElementsAre(best))
          << alpha << ' ' << c;
    }
  }
}

}  // namespace
}  // namespace slipstream
