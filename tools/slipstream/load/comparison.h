// Two servers side by side: ratios of what was measured in pairs of windows, one window of each
// server after the other. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/slipstream/load/tally.h"

namespace slipstream::command::load {

inline constexpr int kPairsMax = 100;

// The figures of one window of one server; nullopt: nothing was measured.
struct WindowFigures {
  std::optional<double> tokens_per_s, requests_per_s, ttft_ms, tpot_ms, e2e_ms;  // durations: means
  static WindowFigures of(const Tally& tally);
};

struct WindowPair {
  WindowFigures first, second;
};

// The geometric mean of first / second over pairs, and its interval at 95 %: Student's t of the
// logarithms. It holds if the pairs' logarithms vary independently and about normally.
struct Ratio {
  double mean = 1, low = 1, high = 1;
  size_t pairs = 0;
};

struct NamedRatio {
  std::string name;            // "tokens/s out"
  std::optional<Ratio> ratio;  // nullopt: fewer than two pairs have it on both sides
};

// The ratio of each figure.
std::vector<NamedRatio> ratios(std::span<const WindowPair> pairs);
// The 97.5 % quantile of Student's t. REQUIRES: degrees >= 1. From 31 degrees on that of 30.
double student_t975(size_t degrees);

}  // namespace slipstream::command::load
