// A histogram of durations in log-linear buckets, as HdrHistogram has them: each power of two is
// divided into equally many buckets, so that the relative error is the same for a microsecond and
// for a minute. Pure; not thread-safe.
//
//   - A quantile is within 2^-(bits + 1) of a duration that was added: 0.2 % with kFineBits.
//   - Count, mean, least and greatest are exact.
//   - Memory is bounded whatever the number of durations: 87 KB with kFineBits, 6 KB with
//     kCoarseBits.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace slipstream::command::load {

using Duration = std::chrono::nanoseconds;

inline constexpr int kFineBits = 8;
inline constexpr int kCoarseBits = 4;  // for one of many windows of time
// What is longer counts as this: a run of a week, and an answer of a day.
inline constexpr Duration kDurationMax = std::chrono::hours(8 * 24);

class LatencyHistogram {
 public:
  // bits: each power of two has 2^bits buckets. REQUIRES: 1 to 12.
  explicit LatencyHistogram(int bits = kFineBits) : bits_(bits) {}

  void add(Duration duration, uint64_t times = 1);  // below 0 counts as 0
  void merge(const LatencyHistogram& other);        // REQUIRES: equal bits

  uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  // The next four are 0 while nothing was added.
  Duration mean() const;
  Duration least() const { return count_ == 0 ? Duration(0) : least_; }
  Duration greatest() const { return greatest_; }
  // The smallest duration that at least the share q of all do not exceed. REQUIRES: 0 <= q <= 1.
  Duration quantile(double q) const;

 private:
  size_t bucket_of(uint64_t ns) const;
  uint64_t middle_of(size_t bucket) const;

  int bits_;
  std::vector<uint64_t> buckets_;  // as many as the greatest duration so far needs
  uint64_t count_ = 0;
  double sum_ns_ = 0;
  Duration least_ = Duration::max(), greatest_{0};
};

}  // namespace slipstream::command::load
