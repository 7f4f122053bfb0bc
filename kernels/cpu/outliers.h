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
  constexpr uint32_t kWords = half_bytes(kFormat) / kWordBytes;
  const auto col = static_cast<uint32_t>(column);  // unsigned, so that the divisions are shifts
  const std::byte* group = panel + col / kGroupColumns * group_bytes(kFormat);
  const uint32_t word = col % kGroupColumns / 4;
  const std::byte* at = group + header_bytes(kFormat) + word % kWords * kWordBytes;
  const auto shift = static_cast<int32_t>(col % 4 * 8 + word / kWords * 4);
  ColumnWeights weights;
  for (int32_t part = 0; part < kParts; ++part) {
    const int32_t row = part * kVectorLanes;
    VectorInt q;
    std::memcpy(&q, at + row / kHalfRows * half_bytes(kFormat) + row % kHalfRows * 4, sizeof(q));
    q = (q >> shift) & (kFormat == WeightFormat::q8_0 ? 255 : 15);
    if (kFormat == WeightFormat::q8_0) q -= 128;
    if (kFormat == WeightFormat::q4_0) q -= 8;
    const Vector numbers = __builtin_convertvector(q, Vector), scale = load_halves(group + row * 2);
    if constexpr (kFormat == WeightFormat::q4_1) {
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
  static constexpr int32_t kPlaces = 256;
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
  constexpr int32_t kFewRows = 8;  // share few columns
  const std::byte* weights = args.panels + panel * panel_bytes(kFormat, args.in_cols);
  if (args.rows <= kFewRows) {
    return add_outliers(args, panel, [weights](int32_t column) { return column_weights<kFormat>(weights, column); });
  }
  UnpackedColumns<kFormat> columns(weights);
  add_outliers(args, panel, [&columns](int32_t column) -> const ColumnWeights& { return columns(column); });
}

}  // namespace
}  // namespace slipstream
