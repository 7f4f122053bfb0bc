// A stored row as floats. Layouts and arithmetic are ggml's (ggml-quants.c: dequantize_row_*), to
// the bit: each number is scale * integer (+ minimum) in f32, rounded after each operation.
#pragma once

#include <span>

#include "common/checkpoint/host_matrix.h"

namespace slipstream {

// out: [matrix.cols].
//   q8_0: f16 scale, 32 int8                               scale * q
//   q4_0: f16 scale, 16 bytes of two 4-bit numbers         scale * (q - 8)
//   q4_1: f16 scale, f16 minimum, 16 bytes likewise        scale * q + minimum
// The lower halves of the 16 bytes are numbers 0..15, the upper ones 16..31.
void read_row(const HostMatrix& matrix, int32_t row, std::span<float> out);

}  // namespace slipstream
