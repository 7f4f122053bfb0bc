// The table of kernels that have one source for every path. They are compiled with the flags of the
// file that includes this. Private to the kernels' .cpp files.
#pragma once

#include "kernels/cpu/attend.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/share_outliers.h"
#include "kernels/cpu/small_linear.h"
#include "kernels/cpu/to_int8.h"
#include "kernels/cpu/widened_linear.h"

namespace slipstream {
namespace {

constexpr Kernels kernels_of(CpuPath path) {
  return {.path = path,
          .linear = {{.in = Activations::f32, .run = widened_linear},
                     {.in = Activations::int8, .run = small_linear<WeightFormat::q8_0>},
                     {.in = Activations::int8, .run = small_linear<WeightFormat::q4_0>},
                     {.in = Activations::int8, .run = small_linear<WeightFormat::q4_1>},
                     {.in = Activations::int8, .run = small_linear<WeightFormat::q5_1>},
                     {.in = Activations::int8, .run = small_linear<WeightFormat::q6_k>}},
          .to_bf16 = nullptr,
          .to_bf16_pairs = nullptr,
          .to_int8 = to_int8,
          .share_outliers = share_outliers,
          .outlier_columns = outlier_columns,
          .cache = CacheFormat::f32,
          .attend_queries_best = kQueriesBest,
          .screened_rows_best = 3,
          .attend_queries = attend_queries,
          .attend_scores = attend_scores,
          .attend_weights = attend_weights,
          .attend_values = attend_values,
          .add_rms_norm = add_rms_norm,
          .rope = rope,
          .silu_gate = silu_gate,
          .gelu_gate = gelu_gate,
          .soft_cap = soft_cap,
          .add_silu = add_silu};
}

}  // namespace
}  // namespace slipstream
