// Converts a stored row of weights to floats. Layouts and arithmetic equal ggml's to the bit
// (ggml-quants.c: dequantize_row_*): everything is f32 and rounded after each operation.
#pragma once

#include <span>

#include "common/checkpoint/host_matrix.h"

namespace slipstream {

// Writes row `row` of the matrix to out: [matrix.cols]. Numbers of blocks of 32 are stored so:
//
//           block                                           number
//   q8_0    f16 scale, 32 int8 q                            scale * q
//   q4_0    f16 scale, 16 bytes of two 4-bit q              scale * (q - 8)
//   q4_1    f16 scale, f16 minimum, 16 bytes of two q       scale * q + minimum
//
// Of the 16 bytes, the lower four bits are numbers 0..15 of the block, the upper ones 16..31.
// REQUIRES: out.size() == matrix.cols.
void read_row(const HostMatrix& matrix, int32_t row, std::span<float> out);

}  // namespace slipstream
