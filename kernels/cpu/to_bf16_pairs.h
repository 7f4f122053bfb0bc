// Rounds activations to bf16, in pairs of columns (kernels.h). Private to the .cpp files of the
// paths that multiply them.
#pragma once

#include "kernels/cpu/to_bf16.h"
#include "kernels/cpu/transpose.h"

namespace slipstream {
namespace {

// Columns [column, column + kGroupColumns) of a row, as pairs. Behind the last column: zeros.
SLIPSTREAM_INLINE __m512i group_pairs(const float* row, int32_t column, int32_t cols) {
  const __m512 low = _mm512_maskz_loadu_ps(first_lanes(cols - column), row + column);
  const __m512 high = _mm512_maskz_loadu_ps(first_lanes(cols - column - kLanes), row + column + kLanes);
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
}

void to_bf16_pairs(const float* in, int32_t rows, int32_t cols, int32_t tile_rows, uint16_t* out) {
  constexpr int32_t kPairs = kGroupColumns / 2;
  const __mmask16 mask = first_lanes(tile_rows);
  for (int32_t column = 0; column < cols; column += kGroupColumns) {
    if (tile_rows == 1) {
      _mm512_storeu_si512(out, group_pairs(in, column, cols));
      out += kGroupColumns;
      continue;
    }
    __m512i pairs[kPairRows];
#pragma GCC unroll 16
    for (int32_t row = 0; row < kPairRows; ++row) {
      pairs[row] = row < rows ? group_pairs(in + int64_t{row} * cols, column, cols) : _mm512_setzero_si512();
    }
    transpose(pairs);
#pragma GCC unroll 16
    for (int32_t pair = 0; pair < kPairs; ++pair, out += 2 * tile_rows) _mm512_mask_storeu_epi32(out, mask, pairs[pair]);
  }
}

}  // namespace
}  // namespace slipstream
