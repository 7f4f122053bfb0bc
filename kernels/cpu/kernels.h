// The cpu kernels of one path, as a table of functions over raw pointers and strides. Nothing here
// allocates or knows threads.
//
// Row-invariance, which every kernel keeps: what a row gets depends on that row's numbers and on
// absolute positions alone. Sums over columns run in one order whatever the number of rows; sums
// over context run in order of the key's position on the row's own path.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/cpu/cache.h"
#include "kernels/cpu/panels.h"
#include "kernels/cpu/path.h"

namespace slipstream {

inline constexpr int32_t kLanes = 16;  // floats of one vector, on every path

// What linear reads: rows of activations as the weight's kernel wants them.
enum class Activations : uint8_t { f32, bf16, int8 };

// 32 neighbouring columns of a row of int8 activations: value = scale * values, to the nearest.
// Their sum comes along, because weights are kept as unsigned q (panels.h).
struct ActivationGroup {
  int8_t values[kGroupColumns];
  float scale;      // largest magnitude / 127; NaN where a column is
  float total;      // scale * sum of values
  int32_t bias[2];  // -8 and -128 times the sum: what q4_0 and q8_0 start from
};
constexpr int64_t activation_bytes(Activations kind, int32_t cols) {  // of a row
  return kind == Activations::f32    ? int64_t{cols} * 4
         : kind == Activations::bf16 ? int64_t{cols} * 2
                                     : groups_of(cols) * int64_t{sizeof(ActivationGroup)};
}

// out [rows, out_cols] = in [rows, in_cols] * weight^T, for the weight's panels (panels.h)
// begin..end-1.
struct LinearArgs {
  const void* in = nullptr;  // [rows] of Activations, end to end
  const std::byte* panels = nullptr;
  float* out = nullptr;
  int64_t out_stride = 0;
  int32_t rows = 0, in_cols = 0, out_cols = 0;
};

// linear of one weight format.
struct LinearKernel {
  Activations in = Activations::f32;
  void (*run)(const LinearArgs& args, int32_t begin, int32_t end) = nullptr;
};

// Rows of one sequence (nodes of its tree, or neighbours of a prompt chunk) and the heads that
// share one key-value head: out = softmax(q k / sqrt(head_size)) v, for all of them while a cache
// block is at hand.
//
// Block b of the cache (cache.h) begins at cache + b * block_stride. A row sees positions [0,
// visible), then visible + j for each bit j of its ancestors, in that order: its p-th key always is
// at position p of its own path, wherever the tree stored it.
//
// Done in four parts: the queries, gathered and in the form that the path multiplies; scores by
// cache block; weights by query (one head of one row); values by column. Each begins when the one
// before is whole, and all but the first may be split over threads. What a row gets does not depend
// on the split, nor on the rows beside it.
struct AttendArgs {
  const std::byte* cache = nullptr;
  int64_t block_stride = 0;  // bytes
  int32_t value_stride = 0;
  const int32_t* blocks = nullptr;   // physical block of each logical one
  const int32_t* visible = nullptr;  // [rows]
  const uint64_t* ancestors = nullptr;
  const float* query = nullptr;  // [rows] of [heads, head_size]
  int64_t query_stride = 0;      // floats
  float* out = nullptr;          // [rows] of [heads, head_size]
  int64_t out_stride = 0;
  int32_t rows = 0, heads = 0, head_size = 0;
  float* queries = nullptr;   // scratch [rows * heads, head_size]
  float* scores = nullptr;    // scratch [rows * heads, scores_stride]
  int64_t scores_stride = 0;  // at least kCacheRows * attend_blocks
  float* sums = nullptr;      // scratch [rows * heads, value_stride]
  float* totals = nullptr;    // scratch [rows * heads]
};
// Blocks in which any of the rows sees anything.
constexpr int32_t attend_blocks(const AttendArgs& args) {
  int32_t seen = 0;
  for (int32_t row = 0; row < args.rows; ++row) {
    const int32_t end = args.visible[row] + static_cast<int32_t>(std::bit_width(args.ancestors[row]));
    seen = seen < end ? end : seen;
  }
  return (seen + kCacheRows - 1) / kCacheRows;
}
inline constexpr int32_t kAncestorsMax = 64;

struct NormArgs {
  float* residual = nullptr;     // [cols] += delta
  const float* delta = nullptr;  // [cols] or null
  const float* gain = nullptr;   // [cols]
  float* out = nullptr;          // [cols] = residual / rms(residual) * gain
  int32_t cols = 0;
  float eps = 0;
};

struct Kernels {
  CpuPath path = CpuPath::portable;
  LinearKernel linear[kWeightFormats];
  void (*to_bf16)(const float* in, int32_t count, uint16_t* out) = nullptr;        // null: no linear reads it
  void (*to_int8)(const float* in, int32_t cols, ActivationGroup* out) = nullptr;  // a row; columns behind the last are 0
  CacheFormat cache = CacheFormat::f32;
  int32_t attend_queries_best = 0;  // rows * heads of a call at which a block's loading is well shared
  void (*attend_queries)(const AttendArgs& args) = nullptr;
  void (*attend_scores)(const AttendArgs& args, int32_t first_block, int32_t last_block) = nullptr;  // last: one behind
  void (*attend_weights)(const AttendArgs& args, int32_t first_query, int32_t last_query) = nullptr;
  void (*attend_values)(const AttendArgs& args, int32_t first_column, int32_t last_column) = nullptr;  // first: of a vector
  void (*add_rms_norm)(const NormArgs& args) = nullptr;
  // Rotates element i of a head against element i + half by the angle whose cosine and sine are
  // given, [half].
  void (*rope)(float* head, const float* cosine, const float* sine, int32_t half) = nullptr;
  void (*silu_gate)(const float* gate_up, int32_t half, float* out) = nullptr;  // gate first, then up
};

const Kernels& kernels(CpuPath path);  // of an available path
inline const LinearKernel& linear_kernel(const Kernels& kernels, WeightFormat format) {
  return kernels.linear[static_cast<int>(format)];
}

// The tables behind kernels(), one a file with its own compile flags.
extern const Kernels kPortableKernels, kAvx2Kernels, kAvx512Kernels, kAvx512VnniKernels, kAvx512Bf16Kernels, kAmxKernels;

}  // namespace slipstream
