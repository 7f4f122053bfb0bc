// RMS norm of rows, with the sum into the residual stream before it.
#pragma once

#include <cstdint>

#include "kernels/cuda/element.h"
#include "kernels/cuda/stream.h"

namespace slipstream::cuda {

// residual += delta (when given); out = residual / sqrt(mean(residual^2) + eps) * gain. The
// residual stream stays in f32.
struct RmsNormArgs {
  float* residual = nullptr;    // [rows, cols]
  const void* delta = nullptr;  // [rows, cols] of `element`, or null
  const float* gain = nullptr;  // [cols]
  void* out = nullptr;          // [rows, cols] of `element`
  int32_t rows = 0, cols = 0;
  float eps = 0;
  Element element = Element::bf16;
};

// Returns the CUDA runtime's error code; 0: the kernel is on the stream. Row-invariant: one block
// computes a row, in one order.
int add_rms_norm(const RmsNormArgs& args, Stream stream);

}  // namespace slipstream::cuda
