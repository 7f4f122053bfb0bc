// A plain histogram that an actor can own: no lock, no name, no device. The driver publishes it
// (metrics/exposition.h). Not thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace slipstream {

template <size_t N>
class Histogram {
 public:
  // bounds: upper limits, inclusive, ascending; what is above the last lands in the +Inf bucket.
  constexpr explicit Histogram(std::array<double, N> bounds) : bounds_(bounds) {}

  void observe(double value) {
    const auto at = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
    ++counts_[static_cast<size_t>(at)];
    sum_ += value;
  }

  const std::array<double, N>& bounds() const { return bounds_; }
  const std::array<uint64_t, N + 1>& counts() const { return counts_; }  // per bucket, not cumulative
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
