// Products with weights in 8 or 4 bits, for the few rows of a step that decodes. Activations are
// f32 or bf16 and are not rounded further (W8A16, W4A16).
#pragma once

#include <cstdint>

#include "kernels/cuda/element.h"
#include "kernels/cuda/quantized_matrix.h"
#include "kernels/cuda/stream.h"

namespace slipstream::cuda {

struct LinearArgs {
  const void* in = nullptr;  // [rows, weight.in] of in_element, aligned to 16 bytes
  QuantizedMatrix weight;
  const float* bias = nullptr;  // [weight.out], or null
  void* out = nullptr;          // [rows, weight.out] of out_element
  int32_t rows = 0;
  Element in_element = Element::bf16, out_element = Element::bf16;
};

// out = in * weight^T + bias. The weights are read once for each kLinearRows rows: with more rows a
// product of dequantised weights costs less. Returns the CUDA runtime's error code; 0: the kernel
// is on the stream; 1: weight.in is no multiple of 32, or the format is bf16. Row-invariant.
inline constexpr int32_t kLinearRows = 16;
int quantized_linear(const LinearArgs& args, Stream stream);

}  // namespace slipstream::cuda
