// Sixteen vectors of sixteen numbers of 32 bits, transposed in registers. Private to the kernels'
// .cpp files of paths with AVX-512.
#pragma once

#include <immintrin.h>

#include "kernels/cpu/lanes.h"

namespace slipstream {
namespace {

// Vector i becomes the numbers i of all vectors.
SLIPSTREAM_INLINE void transpose(__m512i (&v)[16]) {
  __m512i w[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    w[i] = _mm512_unpacklo_epi32(v[i], v[i + 1]);
    w[i + 1] = _mm512_unpackhi_epi32(v[i], v[i + 1]);
  }
  // v[4q + c]: in each quarter of its lanes, numbers 4 lane + c of the four vectors 4q..4q + 3.
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    v[i] = _mm512_unpacklo_epi64(w[i], w[i + 2]);
    v[i + 1] = _mm512_unpackhi_epi64(w[i], w[i + 2]);
    v[i + 2] = _mm512_unpacklo_epi64(w[i + 1], w[i + 3]);
    v[i + 3] = _mm512_unpackhi_epi64(w[i + 1], w[i + 3]);
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    w[c] = _mm512_shuffle_i32x4(v[c], v[c + 4], 0x88);      // lanes 0 and 2 of both
    w[c + 4] = _mm512_shuffle_i32x4(v[c], v[c + 4], 0xDD);  // lanes 1 and 3
    w[c + 8] = _mm512_shuffle_i32x4(v[c + 8], v[c + 12], 0x88);
    w[c + 12] = _mm512_shuffle_i32x4(v[c + 8], v[c + 12], 0xDD);
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    v[c] = _mm512_shuffle_i32x4(w[c], w[c + 8], 0x88);
    v[c + 8] = _mm512_shuffle_i32x4(w[c], w[c + 8], 0xDD);
    v[c + 4] = _mm512_shuffle_i32x4(w[c + 4], w[c + 12], 0x88);
    v[c + 12] = _mm512_shuffle_i32x4(w[c + 4], w[c + 12], 0xDD);
  }
}

}  // namespace
}  // namespace slipstream
