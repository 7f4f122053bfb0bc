// A weight matrix in 8 or 4 bits as the linear kernel reads it: GGUF's blocks of 32 numbers of a
// row (kernels/exact/quantized_block.h), each part in an array of its own, so that loads are whole
// and aligned.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/exact/quantized_block.h"

namespace slipstream::cuda {

// Arrays of [out, groups], a group being 32 columns. The bytes of a group: its 32 numbers + 128 in
// q8_0; in 4 bits, 16 bytes whose lower four bits are numbers 0 to 15.
struct QuantizedMatrix {
  WeightFormat format = WeightFormat::q8_0;
  int32_t out = 0, in = 0;     // in: a multiple of 32
  uint16_t* scales = nullptr;  // f16
  uint16_t* minima = nullptr;  // f16; q4_1 only
  uint8_t* q = nullptr;        // aligned to 16 bytes

  constexpr int32_t groups() const { return in / kBlockNumbers; }
  constexpr int64_t group_bytes() const { return format == WeightFormat::q8_0 ? kBlockNumbers : kBlockNumbers / 2; }
};

// Unpacks row `row` of a matrix into host arrays of that layout. blocks: the row as GGUF stores it.
void unpack_blocks(const std::byte* blocks, int32_t row, const QuantizedMatrix& matrix);

}  // namespace slipstream::cuda
