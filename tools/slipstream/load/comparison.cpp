#include "tools/slipstream/load/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/base/check.h"

namespace slipstream::command::load {
namespace {

using Figure = std::optional<double> WindowFigures::*;

// One to thirty degrees; from any table of Student's t.
constexpr std::array kT975{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                           2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                           2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

std::optional<double> mean_ms(const LatencyHistogram& durations) {
  if (durations.empty()) return std::nullopt;
  return std::chrono::duration<double, std::milli>(durations.mean()).count();
}

std::optional<Ratio> ratio_of(std::span<const WindowPair> pairs, Figure figure) {
  std::vector<double> logs;
  for (const WindowPair& pair : pairs) {
    const auto first = pair.first.*figure, second = pair.second.*figure;
    if (first && second && *first > 0 && *second > 0) logs.push_back(std::log(*first / *second));
  }
  if (logs.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(logs.size());
  double mean = 0, squares = 0;
  for (double log : logs) mean += log / n;
  for (double log : logs) squares += (log - mean) * (log - mean);
  const double half = student_t975(logs.size() - 1) * std::sqrt(squares / (n - 1) / n);
  return Ratio{std::exp(mean), std::exp(mean - half), std::exp(mean + half), logs.size()};
}

}  // namespace

double student_t975(size_t degrees) {
  CHECK(degrees >= 1, "Student's t needs a degree of freedom");
  return kT975[std::min(degrees, kT975.size()) - 1];
}

WindowFigures WindowFigures::of(const Tally& tally) {
  const Measures& measures = tally.measures();
  return {.tokens_per_s = tally.per_s(tally.tokens_out()),
          .requests_per_s = tally.per_s(tally.complete()),
          .ttft_ms = mean_ms(measures.ttft),
          .tpot_ms = mean_ms(measures.tpot),
          .e2e_ms = mean_ms(measures.e2e)};
}

std::vector<NamedRatio> ratios(std::span<const WindowPair> pairs) {
  return {{"tokens/s out", ratio_of(pairs, &WindowFigures::tokens_per_s)},
          {"requests/s", ratio_of(pairs, &WindowFigures::requests_per_s)},
          {"TTFT, mean", ratio_of(pairs, &WindowFigures::ttft_ms)},
          {"TPOT, mean", ratio_of(pairs, &WindowFigures::tpot_ms)},
          {"E2E, mean", ratio_of(pairs, &WindowFigures::e2e_ms)}};
}

}  // namespace slipstream::command::load
