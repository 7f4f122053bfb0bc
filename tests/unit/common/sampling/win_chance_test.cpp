#include "common/sampling/win_chance.h"

#include <array>

#include <gtest/gtest.h>

#include "kernels/exact/noise.h"

namespace slipstream {
namespace {

constexpr std::array kProbabilities{0.55, 0.3, 0.1, 0.05};  // of tokens 0 to 3
constexpr int kPositions = 200'000;

// The token that the target takes.
uint32_t winner(const NoiseKey& key) {
  const auto sum = [&](uint32_t token) { return std::log(kProbabilities[token]) + gumbel(key, token); };
  uint32_t best = 0;
  for (uint32_t token = 1; token < kProbabilities.size(); ++token) best = sum(token) > sum(best) ? token : best;
  return best;
}

// For each token and each tenth of chance, as many wins as expected: within four standard
// deviations, of which the largest is 0.4 % of the positions.
TEST(WinChance, IsHowOftenATokenOfThatNoiseWins) {
  struct Bin {
    double expected = 0, variance = 0;
    int wins = 0;
  };
  std::array<std::array<Bin, 10>, kProbabilities.size()> bins{};
  for (uint32_t position = 0; position < kPositions; ++position) {
    const NoiseKey key{.seed = 99, .position = position};
    const uint32_t won = winner(key);
    for (uint32_t token = 0; token < kProbabilities.size(); ++token) {
      const double chance = win_chance(kProbabilities[token], gumbel(key, token));
      Bin& bin = bins[token][std::min(static_cast<size_t>(chance * 10), size_t{9})];
      bin.expected += chance;
      bin.variance += chance * (1 - chance);
      bin.wins += won == token ? 1 : 0;
    }
  }
  for (const auto& of_token : bins) {
    for (const Bin& bin : of_token) EXPECT_NEAR(bin.wins, bin.expected, 4 * std::sqrt(bin.variance) + 1);
  }
}

TEST(WinChance, OfCertaintyIsOneAndOfImpossibilityZero) {
  EXPECT_EQ(win_chance(1, -3.6), 1);
  EXPECT_EQ(win_chance(0, 36), 0);
}

}  // namespace
}  // namespace slipstream
