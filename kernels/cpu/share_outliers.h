// Joins the outliers of some rows (LinearArgs, kernels.h). Private to the kernels' .cpp files
// (lanes.h).
//
// The columns of each row stand in rising order. They are marked in a bit set first, so that each
// has its place among all of them.
#pragma once

#include <bit>

#include "kernels/cpu/lanes.h"

namespace slipstream {
namespace {

// The columns of which a bit set is made at once.
constexpr int32_t kMarkedWords = 32, kMarkedColumns = kMarkedWords * 64;

class MarkedColumns {
 public:
  // Those of [first, first + kMarkedColumns) and below cols.
  MarkedColumns(int32_t first, int32_t cols) : first_(first), end_(first + kMarkedColumns) {
    const int32_t left = (cols - first + 63) / 64;
    words_ = left < kMarkedWords ? left : kMarkedWords;
    for (int32_t word = 0; word < words_; ++word) marks_[word] = 0;
  }
  // Of a column that does not lie before these; kNoColumn is none of them.
  bool holds(int32_t column) const { return static_cast<uint32_t>(column) < static_cast<uint32_t>(end_); }
  // Marks the columns of a row's outliers, from `next` on. REQUIRES: none of them lies before these
  // columns.
  void mark(const Outlier* next) {
    for (; holds(next->column); ++next) marks_[(next->column - first_) / 64] |= uint64_t{1} << (next->column - first_) % 64;
  }
  // Calls visit(column) for each column that is marked.
  template <class Visit>
  void visit(const Visit& visit) {
    int32_t count = 0;
    for (int32_t word = 0; word < words_; ++word) {
      before_[word] = count;
      for (uint64_t left = marks_[word]; left != 0; left &= left - 1, ++count) {
        visit(first_ + word * 64 + std::countr_zero(left));
      }
    }
  }
  // How many are marked below this one. REQUIRES: they were visited
  int32_t place(int32_t column) const {
    const int32_t word = (column - first_) / 64;
    return before_[word] + std::popcount(marks_[word] & ((uint64_t{1} << (column - first_) % 64) - 1));
  }

 private:
  int32_t first_, end_, words_;
  uint64_t marks_[kMarkedWords];
  int32_t before_[kMarkedWords];  // columns before those of a word
};

// Of up to kSharingRows rows.
SLIPSTREAM_INLINE void share_some(const ActivationGroup* in, int32_t rows, int32_t cols, SharedOutlier* out) {
  const Outlier* next[kSharingRows];
  for (int32_t t = 0; t < rows; ++t) next[t] = outliers(in + int64_t{t} * activation_groups(cols), cols);
  for (int32_t first = 0; first < cols; first += kMarkedColumns) {
    MarkedColumns marked(first, cols);
    for (int32_t t = 0; t < rows; ++t) marked.mark(next[t]);
    SharedOutlier* const begin = out;
    marked.visit([&](int32_t column) { *out++ = {.column = column, .values = {}}; });
    for (int32_t t = 0; t < rows; ++t) {
      for (; marked.holds(next[t]->column); ++next[t]) begin[marked.place(next[t]->column)].values[t] = next[t]->value;
    }
  }
  out->column = kNoColumn;
}

[[maybe_unused]] void share_outliers(const ActivationGroup* in, int32_t rows, int32_t cols, SharedOutlier* out) {
  for (int32_t row = 0; row < rows; row += kSharingRows, out += shared_outliers_max(cols)) {
    share_some(in + int64_t{row} * activation_groups(cols), rows - row < kSharingRows ? rows - row : kSharingRows, cols, out);
  }
}

[[maybe_unused]] void outlier_columns(const ActivationGroup* in, int32_t rows, int32_t cols, int32_t* out) {
  for (int32_t first = 0; first < cols; first += kMarkedColumns) {
    MarkedColumns marked(first, cols);
    for (int32_t t = 0; t < rows; ++t) {
      const Outlier* next = outliers(in + int64_t{t} * activation_groups(cols), cols);
      while (static_cast<uint32_t>(next->column) < static_cast<uint32_t>(first)) ++next;
      marked.mark(next);
    }
    marked.visit([&](int32_t column) { *out++ = column; });
  }
  *out = kNoColumn;
}

}  // namespace
}  // namespace slipstream
