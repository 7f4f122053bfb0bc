// The cpu kernels of one path, as a table of functions over raw pointers and strides. Nothing here allocates or knows threads.
//
// Row-invariance, which every kernel keeps: what a row gets depends on that row's numbers and on absolute positions alone. Sums
// over columns run in one order whatever the number of rows; sums over context run in order of the key's position on the row's
// own path.
#pragma once

#include <cstdint>

#include "kernels/cpu/path.h"

namespace slipstream {

inline constexpr int32_t kLanes = 16;      // floats of one vector, on every path
inline constexpr int32_t kCacheRows = 32;  // positions of one cache block

// out [rows, out_cols] = in [rows, in_cols] * weight^T, for the weight's panels (panels.h) begin..end-1.
struct LinearArgs {
  const void* in = nullptr;  // f32, or bf16 where Kernels::to_bf16 is set
  int64_t in_stride = 0;     // elements of `in` from row to row; even
  const uint16_t* panels = nullptr;
  float* out = nullptr;
  int64_t out_stride = 0;
  int32_t rows = 0, in_cols = 0, out_cols = 0;
};

// The heads of one row that share a key-value head: out = softmax(q k / sqrt(head_size)) v.
//
// Block b of the cache begins at cache + b * block_stride: keys [head_size, kCacheRows], so that a lane is a position, then
// values [kCacheRows, value_stride]. The row sees positions [0, visible), then visible + j for each bit j of `ancestors`, in
// that order: its p-th key always is at position p of its own path, wherever the tree stored it.
struct AttendArgs {
  const float* cache = nullptr;
  int64_t block_stride = 0, value_stride = 0;
  const int32_t* blocks = nullptr;  // physical block of each logical one
  const float* query = nullptr;     // [heads, head_size]
  float* out = nullptr;             // [heads, head_size]
  float* scores = nullptr;          // scratch [heads, scores_stride]
  int64_t scores_stride = 0;        // at least score_floats(visible)
  uint64_t ancestors = 0;
  int32_t visible = 0, heads = 0, head_size = 0;
};
constexpr int64_t score_floats(int32_t visible) { return (int64_t{visible} + 64 + kCacheRows) / kCacheRows * kCacheRows; }

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
  void (*linear)(const LinearArgs& args, int32_t begin, int32_t end) = nullptr;
  void (*to_bf16)(const float* in, int32_t count, uint16_t* out) = nullptr;  // null: linear reads f32
  void (*attend)(const AttendArgs& args) = nullptr;
  void (*add_rms_norm)(const NormArgs& args) = nullptr;
  // Rotates element i of a head against element i + half by the angle whose cosine and sine are given, [half].
  void (*rope)(float* head, const float* cosine, const float* sine, int32_t half) = nullptr;
  void (*silu_gate)(const float* gate_up, int32_t half, float* out) = nullptr;  // gate first, then up
};

const Kernels& kernels(CpuPath path);  // of an available path

// The tables behind kernels(), one a file with its own compile flags.
extern const Kernels kPortableKernels, kAvx512Kernels, kAvx512Bf16Kernels;

}  // namespace slipstream
