// Products with weights of 4 to 8 bits by tensor cores, and rows of such weights as bf16.
//
// Activations are bf16 and are not rounded further (W8A16, W4A16). The integers q of a block are
// exact in bf16, so they meet the activations as they are; what the columns of a scale give (16 of
// q6_k, else 32) is multiplied by that scale in f32.
#pragma once

#include <cstdint>

#include "kernels/cuda/element.h"
#include "kernels/cuda/quantized_matrix.h"
#include "kernels/cuda/stream.h"

namespace slipstream::cuda {

struct LinearArgs {
  const void* in = nullptr;  // [rows, weight.in] bf16, aligned to 8 bytes
  QuantizedMatrix weight;
  const float* bias = nullptr;  // [weight.out], or null
  void* out = nullptr;          // [rows, out_stride] of out_element, of which the first weight.out columns are written
  int32_t out_stride = 0;       // >= weight.out
  int32_t rows = 0;
  Element out_element = Element::bf16;
};

// out = in * weight^T + bias. The weights are read once for each kLinearRows rows. Returns the CUDA
// runtime's error code; 0: the kernel is on the stream; 1: weight.in is no multiple of 32, or the
// format is bf16. Row-invariant. REQUIRES: rows > 0.
inline constexpr int32_t kLinearRows = 64;
int quantized_linear(const LinearArgs& args, Stream stream);

struct UnpackArgs {
  QuantizedMatrix weight;
  const int64_t* row = nullptr;  // [count], each in [0, weight.out)
  void* out = nullptr;           // [count, weight.in] bf16
  int32_t count = 0;
};

// out[i] = row row[i] of the weight, rounded to bf16. Errors as above. REQUIRES: count > 0.
int unpack_rows(const UnpackArgs& args, Stream stream);

}  // namespace slipstream::cuda
