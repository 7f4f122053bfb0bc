#include "research/theory/estimate.h"

#include <algorithm>
#include <limits>

namespace slipstream::theory {
namespace {

constexpr double kSetsOutside = 0.01;
constexpr double kExact = 1e-9;  // tolerance, if nothing varies
constexpr double kRareEvents = 2;

// Returns the x with P(|standard normal| > x) = tail, by bisection.
double normal_bound(double tail) {
  double low = 0, high = 40;
  for (int halving = 0; halving < 100; ++halving) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) > tail ? low : high) = middle;
  }
  return low;
}

}  // namespace

void Mean::add(double value) {
  ++runs_;
  // Welford's update: numerically stable in one pass.
  const double apart = value - mean_;
  mean_ += apart / static_cast<double>(runs_);
  squares_ += apart * (value - mean_);
}

Estimate Mean::estimate() const {
  const auto runs = static_cast<double>(runs_);
  return {mean_, runs_ < 2 ? 0 : std::sqrt(squares_ / (runs - 1) / runs), runs_};
}

Estimate share(uint64_t times, uint64_t runs, double theory) {
  const auto all = static_cast<double>(runs);
  const double events = all * theory * (1 - theory);
  return {static_cast<double>(times) / all, events > 0 ? std::sqrt(events + kRareEvents) / all : 0, runs};
}

double Comparison::standard_errors() const {
  const double apart = std::abs(simulated.mean - theory);
  if (apart <= kExact) return 0;
  return simulated.error > 0 ? apart / simulated.error : std::numeric_limits<double>::infinity();
}

Agreement agreement(const std::vector<Comparison>& comparisons) {
  Agreement all{.comparisons = comparisons.size()};
  for (const Comparison& comparison : comparisons) {
    all.outside += comparison.inside() ? 0 : 1;
    all.worst = std::max(all.worst, comparison.standard_errors());
  }
  all.bound = comparisons.empty() ? 0 : normal_bound(kSetsOutside / static_cast<double>(comparisons.size()));
  return all;
}

}  // namespace slipstream::theory
