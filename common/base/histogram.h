// A histogram of N buckets and one for all larger values, as plain data that an actor's counters
// can hold. The actor's driver publishes a copy; metrics/exposition.h writes it to the metrics
// page.
//
// Not thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace slipstream {

template <size_t N>
class Histogram {
 public:
  // bounds: the inclusive upper limits of the buckets. REQUIRES: ascending (not checked). Values
  // above the last bound are counted in bucket N, which Prometheus calls +Inf.
  constexpr explicit Histogram(std::array<double, N> bounds) : bounds_(bounds) {}

  void observe(double value) {
    const auto at = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
    ++counts_[static_cast<size_t>(at)];
    sum_ += value;
  }

  const std::array<double, N>& bounds() const { return bounds_; }
  const std::array<uint64_t, N + 1>& counts() const { return counts_; }  // of each bucket alone, not cumulative
  double sum() const { return sum_; }
  uint64_t count() const {
    uint64_t total = 0;
    for (uint64_t n : counts_) total += n;
    return total;
  }

 private:
  std::array<double, N> bounds_;
  std::array<uint64_t, N + 1> counts_{};
  double sum_ = 0;
};

}  // namespace slipstream
