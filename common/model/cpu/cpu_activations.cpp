#include "common/model/cpu/cpu_activations.h"

#include <algorithm>

namespace slipstream {

void CpuActivations::reserve(int32_t rows_max, int32_t cols_max) {
  int64_t bytes = 0;
  for (const LinearKernel& kernel : kernels_.linear) {
    if (kernel.in != Activations::f32) bytes = std::max(bytes, activation_bytes(kernel.in, rows_max, cols_max));
  }
  rounded_.resize(lines_of(bytes));
  shared_.resize(static_cast<size_t>(kFewRows / kSharingRows * shared_outliers_max(cols_max)));
  outlier_columns_.resize(static_cast<size_t>(outlier_columns_max(rows_max, cols_max)));
}

ReadRows CpuActivations::round(Tensor in, Activations kind) {
  if (kind == Activations::f32) return {.rows = in.data};
  auto* rounded = reinterpret_cast<std::byte*>(rounded_.data());
  const int32_t together = rounded_together(kind), calls = (in.rows + together - 1) / together;
  pool_.run(calls, grain_for(kRangeElements, int64_t{in.cols} * std::min(together, in.rows)),
            [&](int32_t begin, int32_t end, int) {
              for (int32_t call = begin; call < end; ++call) {
                round_activations(kernels_, kind, row_of(in, 0), in.rows, in.cols, call * together, rounded);
              }
            });
  if (kind != Activations::int8 || in.rows == 1) return {.rows = rounded};
  const auto* groups = reinterpret_cast<const ActivationGroup*>(rounded);
  if (in.rows <= kFewRows) {
    kernels_.share_outliers(groups, in.rows, in.cols, shared_.data());
    return {.rows = rounded, .shared = shared_.data()};
  }
  kernels_.outlier_columns(groups, in.rows, in.cols, outlier_columns_.data());
  return {.rows = rounded, .outlier_columns = outlier_columns_.data()};
}

}  // namespace slipstream
