// The outliers of int8 activations (kernels.h) times weights in a small format. Private to the
// kernels' .cpp files (lanes.h). For each outlier of a row, in rising order of columns:
//
//   sum := sum + ((q - bias) * weight scale + minimum) * outlier
//
// Where the outliers of several rows are added together, a row of which a column is no outlier adds
// 0 times a finite weight. That changes no bit of its sum, unless it is the sign of a zero.
#pragma once

#include <utility>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/small_panels.h"

namespace slipstream {
namespace {

// The weights of one column in a panel, as floats: those of a part's rows.
template <WeightFormat kFormat>
SLIPSTREAM_INLINE Vector column_weights(const std::byte* panel, int32_t column, int32_t part) {
  const std::byte* group = panel + column / kGroupColumns * group_bytes(kFormat);
  const int32_t within = column % kGroupColumns, row = part * kVectorLanes;
  // A run's scales stand where all others have their only ones, or behind those.
  const std::byte* scales = group + within / run_numbers(kFormat) * kScalesBytes;
  const std::byte* words = group + group_header_bytes(kFormat) + row / kHalfRows * half_bytes(kFormat) + row % kHalfRows * 4;
  const Vector numbers = __builtin_convertvector(column_q<kFormat>(words, within) - zero_of(kFormat), Vector);
  const Vector scale = load_halves(scales + row * 2);
  if constexpr (has_minimum(kFormat)) {
    return multiply_add(numbers, scale, load_halves(group + kScalesBytes + row * 2));
  } else {
    return numbers * scale;
  }
}

SLIPSTREAM_INLINE const float* values_of(const Outlier& outlier) { return &outlier.value; }
SLIPSTREAM_INLINE const float* values_of(const SharedOutlier& outlier) { return outlier.values; }

// Adds outliers to a panel's columns of out, for kRows rows from `row` on.
template <WeightFormat kFormat, int kRows, class Each>
void add_some(const LinearArgs& args, int32_t panel, int32_t row, const Each* first) {
  constexpr int32_t kTogether = kVectorLanes == kLanes ? kParts : 1;  // parts: their sums stay in registers
  const std::byte* weights = args.panels + panel * panel_bytes(kFormat, args.in_cols);
  for (int32_t part = 0; part < kParts; part += kTogether) {
    const int32_t col = panel * kPanelRows + part * kVectorLanes, left = args.out_cols - col;
    if (left <= 0) return;
    float* out = args.out + row * args.out_stride + col;
    Vector sums[kRows][kTogether];
#pragma GCC unroll 8
    for (int t = 0; t < kRows; ++t) {
      for (int32_t i = 0; i < kTogether; ++i) {
        sums[t][i] = load_vector_part(out + t * args.out_stride + i * kVectorLanes, left - i * kVectorLanes);
      }
    }
    for (const Each* each = first; each->column != kNoColumn; ++each) {
      Vector column[kTogether];
      for (int32_t i = 0; i < kTogether; ++i) column[i] = column_weights<kFormat>(weights, each->column, part + i);
#pragma GCC unroll 8
      for (int t = 0; t < kRows; ++t) {
        for (int32_t i = 0; i < kTogether; ++i) sums[t][i] = multiply_add(column[i], every(values_of(*each)[t]), sums[t][i]);
      }
    }
#pragma GCC unroll 8
    for (int t = 0; t < kRows; ++t) {
      for (int32_t i = 0; i < kTogether; ++i) {
        store_vector_part(out + t * args.out_stride + i * kVectorLanes, sums[t][i], left - i * kVectorLanes);
      }
    }
  }
}

using AddSharedFn = void (*)(const LinearArgs& args, int32_t panel, int32_t row, const SharedOutlier* first);
struct AddShared {
  AddSharedFn of[kSharingRows];
};

// Adds the outliers of a call's rows to a panel's columns of out.
template <WeightFormat kFormat>
void add_outliers(const LinearArgs& args, int32_t panel) {
  static constexpr auto kAdds = []<int... kBelow>(std::integer_sequence<int, kBelow...>) {
    return AddShared{{add_some<kFormat, kBelow + 1, SharedOutlier>...}};
  }(std::make_integer_sequence<int, kSharingRows>{});
  if (args.shared == nullptr) {
    const auto* in = static_cast<const ActivationGroup*>(args.in);
    for (int32_t row = 0; row < args.rows; ++row, in += activation_groups(args.in_cols)) {
      const Outlier* first = outliers(in, args.in_cols);
      if (first->column != kNoColumn) add_some<kFormat, 1>(args, panel, row, first);
    }
    return;
  }
  const SharedOutlier* first = args.shared;
  for (int32_t row = 0; row < args.rows; row += kSharingRows, first += shared_outliers_max(args.in_cols)) {
    const int32_t rows = args.rows - row < kSharingRows ? args.rows - row : kSharingRows;
    if (first->column != kNoColumn) kAdds.of[rows - 1](args, panel, row, first);
  }
}

}  // namespace
}  // namespace slipstream
