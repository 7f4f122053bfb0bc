// RMS norms: of rows, with the sum into the residual stream before it, and of single heads.
#pragma once

#include <cstdint>

#include "kernels/cuda/element.h"
#include "kernels/cuda/stream.h"

namespace slipstream::cuda {

inline constexpr int32_t kNormColumnsMax = 16'384;  // of a row

// residual += delta (when given); out = residual / sqrt(mean(residual^2) + eps) * gain.
struct RmsNormArgs {
  void* residual = nullptr;     // [rows, cols] of `stream`
  const void* delta = nullptr;  // [rows, cols] of `element`, or null
  const float* gain = nullptr;  // [cols]
  void* out = nullptr;          // [rows, cols] of `element`
  int32_t rows = 0, cols = 0;
  float eps = 0;
  Element element = Element::bf16;
  Element stream = Element::f32;  // of the residual stream; f32, or as `element`
};

// head = head / sqrt(mean(head^2) + eps) * gain, in place, for the first `heads` heads of each row.
struct HeadNormArgs {
  void* first = nullptr;  // the first row's first head, of `element`
  int64_t stride = 0;     // elements from row to row
  const float* gain = nullptr;
  int32_t rows = 0, heads = 0, head_size = 0;
  float eps = 0;
  Element element = Element::bf16;
};

// Both return the CUDA runtime's error code; 0: the kernel is on the stream; 1: a row of more than
// kNormColumnsMax. Row-invariant: one
// block computes a row, and one warp a head, in one order.
int add_rms_norm(const RmsNormArgs& args, Stream stream);
int norm_heads(const HeadNormArgs& args, Stream stream);

}  // namespace slipstream::cuda
