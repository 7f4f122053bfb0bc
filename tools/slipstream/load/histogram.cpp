#include "tools/slipstream/load/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/base/check.h"

namespace slipstream::command::load {

// Durations below 2^(bits + 1) ns have a bucket each. Above, a duration with w significant bits is
// cut to its first bits + 1: those count the buckets of its power of two, and the w - bits - 1 that
// are cut off say which power of two it is.
size_t LatencyHistogram::bucket_of(uint64_t ns) const {
  const int cut = std::max(0, static_cast<int>(std::bit_width(ns)) - bits_ - 1);
  return (static_cast<size_t>(cut) << bits_) + static_cast<size_t>(ns >> cut);
}

uint64_t LatencyHistogram::middle_of(size_t bucket) const {
  const size_t powers = bucket >> bits_;
  const int cut = powers < 2 ? 0 : static_cast<int>(powers) - 1;
  const uint64_t low = (bucket - (static_cast<size_t>(cut) << bits_)) << cut;
  return low + (uint64_t{1} << cut) / 2;
}

void LatencyHistogram::add(Duration duration, uint64_t times) {
  if (times == 0) return;
  const Duration kept = std::clamp(duration, Duration(0), Duration(kDurationMax));
  const size_t bucket = bucket_of(static_cast<uint64_t>(kept.count()));
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  buckets_[bucket] += times;
  count_ += times;
  sum_ns_ += static_cast<double>(kept.count()) * static_cast<double>(times);
  least_ = std::min(least_, kept);
  greatest_ = std::max(greatest_, kept);
}

void LatencyHistogram::merge(const LatencyHistogram& other) {
  CHECK(bits_ == other.bits_, "a histogram of {} bits cannot take one of {}", bits_, other.bits_);
  buckets_.resize(std::max(buckets_.size(), other.buckets_.size()));
  for (size_t i = 0; i < other.buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ns_ += other.sum_ns_;
  least_ = std::min(least_, other.least_);
  greatest_ = std::max(greatest_, other.greatest_);
}

Duration LatencyHistogram::mean() const {
  return count_ == 0 ? Duration(0) : Duration(std::llround(sum_ns_ / static_cast<double>(count_)));
}

Duration LatencyHistogram::quantile(double q) const {
  CHECK(q >= 0 && q <= 1, "a quantile lies between 0 and 1, not at {}", q);
  if (count_ == 0) return Duration(0);
  const auto rank = std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(q * static_cast<double>(count_))));
  if (rank >= count_) return greatest_;
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen >= rank) return std::clamp(Duration(static_cast<int64_t>(middle_of(bucket))), least_, greatest_);
  }
  return greatest_;
}

}  // namespace slipstream::command::load
