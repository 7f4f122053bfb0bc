// The outliers of int8 activations (kernels.h) times weights in a small format. Private to the
// kernels' .cpp files (lanes.h). For each outlier of a row, in rising order of columns:
//
//   sum := sum + ((q - bias) * weight scale + minimum) * outlier
#pragma once

#include <utility>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/small_panels.h"

namespace slipstream {
namespace {

// The weights of one column in a panel, as floats.
struct ColumnWeights {
  Vector parts[kParts];
};
template <WeightFormat kFormat>
SLIPSTREAM_INLINE ColumnWeights column_weights(const std::byte* panel, int32_t column) {
  const std::byte* group = panel + column / kGroupColumns * group_bytes(kFormat);
  const int32_t within = column % kGroupColumns;
  // A run's scales stand where all others have their only ones, or behind those.
  const std::byte* scales = group + within / run_numbers(kFormat) * kScalesBytes;
  ColumnWeights weights;
  for (int32_t part = 0; part < kParts; ++part) {
    const int32_t row = part * kVectorLanes;
    const std::byte* words = group + group_header_bytes(kFormat) + row / kHalfRows * half_bytes(kFormat) + row % kHalfRows * 4;
    const Vector numbers = __builtin_convertvector(column_q<kFormat>(words, within) - zero_of(kFormat), Vector);
    const Vector scale = load_halves(scales + row * 2);
    if constexpr (has_minimum(kFormat)) {
      weights.parts[part] = multiply_add(numbers, scale, load_halves(group + kScalesBytes + row * 2));
    } else {
      weights.parts[part] = numbers * scale;
    }
  }
  return weights;
}

// The columns of a panel that were unpacked lately. Among many rows most outliers are in the same
// few columns.
template <WeightFormat kFormat>
class UnpackedColumns {
 public:
  explicit UnpackedColumns(const std::byte* panel) : panel_(panel) {
    for (int32_t& each : columns_) each = kNoColumn;
  }
  const ColumnWeights& operator()(int32_t column) {
    const int32_t place = column % kPlaces;
    if (columns_[place] != column) weights_[place] = column_weights<kFormat>(panel_, columns_[place] = column);
    return weights_[place];
  }

 private:
  static constexpr int32_t kPlaces = 64;
  const std::byte* panel_;
  int32_t columns_[kPlaces];
  ColumnWeights weights_[kPlaces];
};

// Adds the outliers of a call's rows to a panel's columns of out. unpacked(column): its weights.
template <class Unpacked>
SLIPSTREAM_INLINE void add_outliers(const LinearArgs& args, int32_t panel, const Unpacked& unpacked) {
  const auto* row = static_cast<const ActivationGroup*>(args.in);
  float* out = args.out + panel * kPanelRows;
  const int32_t cols = args.out_cols - panel * kPanelRows;
  for (int32_t t = 0; t < args.rows; ++t, row += activation_groups(args.in_cols), out += args.out_stride) {
    const Outlier* outlier = outliers(row, args.in_cols);
    if (outlier->column == kNoColumn) continue;
    ColumnWeights sums;
    for (int32_t part = 0; part < kParts; ++part) {
      sums.parts[part] = load_vector_part(out + part * kVectorLanes, cols - part * kVectorLanes);
    }
    for (; outlier->column != kNoColumn; ++outlier) {
      const ColumnWeights& weights = unpacked(outlier->column);
      for (int32_t part = 0; part < kParts; ++part) {
        sums.parts[part] = multiply_add(weights.parts[part], every(outlier->value), sums.parts[part]);
      }
    }
    for (int32_t part = 0; part < kParts; ++part) {
      store_vector_part(out + part * kVectorLanes, sums.parts[part], cols - part * kVectorLanes);
    }
  }
}

template <WeightFormat kFormat>
void add_outliers(const LinearArgs& args, int32_t panel) {
  constexpr int32_t kFewRows = 1;
  const std::byte* weights = args.panels + panel * panel_bytes(kFormat, args.in_cols);
  if (args.rows <= kFewRows) {
    return add_outliers(args, panel, [weights](int32_t column) { return column_weights<kFormat>(weights, column); });
  }
  UnpackedColumns<kFormat> columns(weights);
  add_outliers(args, panel, [&columns](int32_t column) -> const ColumnWeights& { return columns(column); });
}

}  // namespace
}  // namespace slipstream
