// A weight matrix of 4 to 8 bits as the kernels of linear.cu read it: the blocks of 32 numbers of a
// row (kernels/exact/quantized_block.h), laid out for tensor cores (mma.cuh).
//
// kPanelRows rows are a panel, and a panel's blocks of the same 32 columns are a group: 32 lanes,
// whose lane 4 g + t has of row g the numbers 4t .. 4t + 3 and 16 + 4t .. 16 + 4t + 3. In pairs:
//
//   pair     0                1                    2                    3
//   numbers  4t, 4t + 1       4t + 2, 4t + 3       16 + 4t, + 1         16 + 4t + 2, + 3
//
//   q, 4 bits a number   a word; pair p at bits 4p (its first number) and 16 + 4p
//   q, 8 bits            two words of pairs 0, 1 and 2, 3; at bits 0, 8 (first numbers) and 16, 24
//   high bits, b each    8 b bits; pair p at bits b p and 4 b + b p
//
// The rows that the last panel lacks are zeros.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/exact/quantized_block.h"

namespace slipstream::cuda {

inline constexpr int32_t kPanelRows = 8;  // not those of kernels/cpu/panels.h
inline constexpr int32_t kGroupLanes = 32;
inline constexpr int32_t kLanePairs = 4;

// The first number of a pair of lane 4 g + t.
constexpr int32_t first_of_pair(int32_t t, int32_t pair) { return pair / 2 * (kBlockNumbers / 2) + 4 * t + pair % 2 * 2; }

// Whether a block has a minimum or a second scale.
constexpr bool has_second(WeightFormat format) { return header_bytes(format) > kScaleBytes; }

struct QuantizedMatrix {
  WeightFormat format = WeightFormat::q8_0;
  int32_t out = 0, in = 0;     // in: a multiple of 32
  uint16_t* scales = nullptr;  // [panels, groups, kPanelRows] f16, aligned to 4 bytes
  uint16_t* second = nullptr;  // the same of minima or second scales, of formats that have them
  uint8_t* q = nullptr;        // [panels, groups, kGroupLanes, lane_bytes()], aligned to 8 bytes; q8_0: the number + 128
  uint8_t* high = nullptr;     // [panels, groups, kGroupLanes, high_bits()], of formats that have them; aligned to 2 bytes

  constexpr int32_t panels() const { return (out + kPanelRows - 1) / kPanelRows; }
  constexpr int32_t groups() const { return in / kBlockNumbers; }
  constexpr int32_t lane_bytes() const { return format == WeightFormat::q8_0 ? 8 : 4; }
  // Numbers in each of the arrays.
  constexpr int64_t scale_count() const { return int64_t{panels()} * groups() * kPanelRows; }
  constexpr int64_t q_count() const { return int64_t{panels()} * groups() * kGroupLanes * lane_bytes(); }
  constexpr int64_t high_count() const { return int64_t{panels()} * groups() * kGroupLanes * high_bits(format); }
};

// Lays row `row` out in host arrays, which were zeros. blocks: the row in the matrix's format.
void lay_out_row(const std::byte* blocks, int32_t row, const QuantizedMatrix& matrix);

}  // namespace slipstream::cuda
