// The features of a sequence's tokens on their way from the steps that compute them to the drafters
// that read them (Advance::features): those of positions [begin, end). What no drafter lacks that
// may be asked is dropped; it lies in the target's cache, and is read again if one needs it. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "common/base/check.h"

namespace slipstream {

// Numbers of features that a step reads for one sequence at most, two bytes each: a drafter that
// comes late to a long context gets it in several steps.
inline constexpr int32_t kFeatureNumbersAStep = 1 << 20;

class FeatureWindow {
 public:
  int32_t begin() const { return begin_; }
  int32_t end() const { return begin_ + count_; }

  // rows: [count, numbers] of the positions from end() on.
  void append(std::span<const uint16_t> rows, int32_t count) {
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    count_ += count;
  }
  // REQUIRES: begin() <= first and first + count <= end().
  std::span<const uint16_t> rows(int32_t first, int32_t count) const {
    CHECK(begin() <= first && first + count <= end(), "features {} to {} of [{}, {})", first, first + count, begin(), end());
    return std::span(rows_).subspan(static_cast<size_t>(first - begin_) * numbers(), static_cast<size_t>(count) * numbers());
  }
  // Nobody needs what lies before that position, but what follows it.
  void keep_from(int32_t position) {
    if (position < begin_ || position > end()) {
      rows_.clear();
      count_ = 0;
    } else {
      const int32_t dropped = position - begin_;
      rows_.erase(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(dropped) * numbers()));
      count_ -= dropped;
    }
    begin_ = position;
  }

 private:
  size_t numbers() const { return count_ == 0 ? 0 : rows_.size() / static_cast<size_t>(count_); }

  int32_t begin_ = 0, count_ = 0;
  std::vector<uint16_t> rows_;
};

}  // namespace slipstream
