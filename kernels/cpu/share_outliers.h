// Writes the outliers of some rows by columns (kernels.h). Private to the kernels' .cpp files
// (lanes.h).
//
// The columns of each row stand in rising order. They are marked in a bit set first, so that each
// has its place among all of them before its value is written there.
#pragma once

#include <bit>

#include "kernels/cpu/lanes.h"

namespace slipstream {
namespace {

// The columns of which a bit set is made at once.
constexpr int32_t kMarkedWords = 32, kMarkedColumns = kMarkedWords * 64;

struct MarkedColumns {
  int32_t first = 0, words = 0;
  uint64_t marks[kMarkedWords];
  int32_t before[kMarkedWords];  // columns before those of a word

  void mark(int32_t column) { marks[(column - first) / 64] |= uint64_t{1} << (column - first) % 64; }
  int32_t place(int32_t column) const {
    const int32_t word = (column - first) / 64;
    return before[word] + std::popcount(marks[word] & ((uint64_t{1} << (column - first) % 64) - 1));
  }
  // Writes the columns, with no row's value. Returns how many there are.
  int32_t write(SharedOutlier* out) {
    int32_t count = 0;
    for (int32_t word = 0; word < words; ++word) {
      before[word] = count;
      for (uint64_t left = marks[word]; left != 0; left &= left - 1) {
        out[count++] = {.column = first + word * 64 + std::countr_zero(left), .values = {}};
      }
    }
    return count;
  }
};

[[maybe_unused]] void share_outliers(const ActivationGroup* in, int32_t rows, int32_t cols, SharedOutlier* out) {
  const Outlier* next[kSharingRows];
  for (int32_t t = 0; t < rows; ++t) next[t] = outliers(in + int64_t{t} * activation_groups(cols), cols);
  MarkedColumns marked;
  for (; marked.first < cols; marked.first += kMarkedColumns) {
    const auto end = static_cast<uint32_t>(marked.first + kMarkedColumns);  // kNoColumn is above it
    const int32_t left = (cols - marked.first + 63) / 64;
    marked.words = left < kMarkedWords ? left : kMarkedWords;
    for (int32_t word = 0; word < marked.words; ++word) marked.marks[word] = 0;
    for (int32_t t = 0; t < rows; ++t) {
      for (const Outlier* each = next[t]; static_cast<uint32_t>(each->column) < end; ++each) marked.mark(each->column);
    }
    const int32_t count = marked.write(out);
    for (int32_t t = 0; t < rows; ++t) {
      for (; static_cast<uint32_t>(next[t]->column) < end; ++next[t])
        out[marked.place(next[t]->column)].values[t] = next[t]->value;
    }
    out += count;
  }
  out->column = kNoColumn;
}

}  // namespace
}  // namespace slipstream
