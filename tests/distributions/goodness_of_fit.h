// Do counts follow a distribution? This is Pearson's test (tools/statistics) at one false alarm
// rate, kAlpha. Seeds are fixed, so a test that passes once passes always; alpha says how
// surprising a failure after a change would be.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/statistics/chi_square.h"

namespace slipstream {

inline constexpr double kAlpha = 1e-6;           // false alarm rate of one test
inline constexpr double kAlphaDeviate = 4.7534;  // normal quantile of 1 - kAlpha

// The p-value of counts against a distribution over the same cells. It is 0 if a cell of
// probability 0 was counted.
inline double p_value(std::span<const uint64_t> counts, std::span<const double> distribution) {
  const std::vector<double> observed(counts.begin(), counts.end());
  double draws = 0;
  for (const double count : observed) draws += count;
  std::vector<double> expected;
  for (const double p : distribution) expected.push_back(draws * p);
  return statistics::chi_square(observed, expected).p_value;
}

inline double total_variation(std::span<const double> p, std::span<const double> q) {
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += std::abs(p[i] - q[i]);
  return sum / 2;
}

// softmax(logits / temperature) in the test's own arithmetic, by libm.
inline std::vector<double> softmax(std::span<const float> logits, double temperature) {
  std::vector<double> distribution;
  double total = 0;
  for (float logit : logits) total += distribution.emplace_back(std::exp(static_cast<double>(logit) / temperature));
  for (double& p : distribution) p /= total;
  return distribution;
}

}  // namespace slipstream
