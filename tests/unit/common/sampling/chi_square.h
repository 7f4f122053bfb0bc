// Pearson's test for counts, with the false alarm rate stated once. Seeds are fixed, so a test that passes passes always; alpha
// says how surprising a failure after a change would be.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace slipstream {

inline constexpr double kAlpha = 1e-6;           // false alarm rate of one test
inline constexpr double kAlphaDeviate = 4.7534;  // normal quantile of 1 - kAlpha

// The (1 - kAlpha) quantile of chi-square, by Wilson and Hilferty (1931): within 1 % from 7 degrees of freedom on.
inline double chi_square_limit(double freedom) {
  const double a = 2.0 / (9.0 * freedom);
  return freedom * std::pow(1.0 - a + kAlphaDeviate * std::sqrt(a), 3);
}

// Of counts against a law over the same cells; a count where the law has none is infinitely surprising.
inline double chi_square(std::span<const uint64_t> counts, std::span<const double> law) {
  double draws = 0, sum = 0;
  for (uint64_t count : counts) draws += static_cast<double>(count);
  for (size_t cell = 0; cell < counts.size(); ++cell) {
    const double expected = draws * law[cell], off = static_cast<double>(counts[cell]) - expected;
    if (expected > 0) {
      sum += off * off / expected;
    } else if (counts[cell] > 0) {
      return INFINITY;
    }
  }
  return sum;
}

inline double total_variation(std::span<const double> p, std::span<const double> q) {
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += std::abs(p[i] - q[i]);
  return sum / 2;
}

// softmax(logits / temperature), by libm: the test's own arithmetic.
inline std::vector<double> softmax(std::span<const float> logits, double temperature) {
  std::vector<double> law;
  double total = 0;
  for (float logit : logits) total += law.emplace_back(std::exp(static_cast<double>(logit) / temperature));
  for (double& p : law) p /= total;
  return law;
}

}  // namespace slipstream
