// Weights in a small format, in the layout `rows` (panels.h), to bf16: the numbers of the format,
// rounded to the nearest, of four bits halves away from zero. Private to the .cpp files of paths
// with AVX-512 BF16.
//
// Four bits: a row's group has one of sixteen numbers for each q, so they are computed once, in
// f32. Half a unit of bf16 is added, so that the upper half of each is the rounded number (a
// conversion takes four times as long), and VPERMW looks up 32 such halves: number q has its
// upper half at 2 q + 1. Of each index VPERMW reads the lowest five bits only, so the q of the
// other rows, which share the word, need not be masked out.
#pragma once

#include <immintrin.h>

#include "kernels/cpu/small_panels.h"

namespace slipstream {
namespace {

// The header of a group as floats: the scales of its 32 rows, then their minima (q4_1 only).
template <WeightFormat kFormat>
struct Header {
  static constexpr int32_t kNumbers = header_bytes(kFormat) / 2;
  alignas(64) float of[kNumbers];

  [[gnu::always_inline]] explicit Header(const std::byte* group) {
#pragma GCC unroll 4
    for (int32_t at = 0; at < kNumbers; at += kVectorLanes) _mm512_store_ps(of + at, load_halves(group + at * 2));
    asm volatile("" ::: "memory");  // or the compiler takes each number out of the register by a shuffle, not from memory
  }
};

// Writes the group that begins at `group` to `out`, [32 rows][32 columns] of bf16 at a cache line.
template <WeightFormat kFormat>
SLIPSTREAM_INLINE void widen_rows(const std::byte* group, std::byte* out) {
  constexpr int64_t kRowBytes = 2 * kGroupColumns;
  const Header<kFormat> header(group);
  const std::byte* q = group + header_bytes(kFormat);
  if constexpr (kFormat == WeightFormat::q8_0) {
#pragma GCC unroll 8
    for (int row = 0; row < kPanelRows; ++row) {
      const auto number = [&](const std::byte* from) __attribute__((always_inline)) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
        return _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes)), _mm512_set1_ps(header.of[row]));
      };
      const std::byte* from = q + row * kGroupColumns;
      const __m512 low = number(from), high = number(from + kGroupColumns / 2);
      _mm512_store_si512(out + row * kRowBytes, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
    }
  } else {
    const __m512 counted = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512 steps = kFormat == WeightFormat::q4_0 ? _mm512_sub_ps(counted, _mm512_set1_ps(8)) : counted;
    const auto numbers_of = [&](int row) __attribute__((always_inline)) {
      const __m512 scale = _mm512_set1_ps(header.of[row]);
      if constexpr (kFormat == WeightFormat::q4_0)
        return _mm512_mul_ps(steps, scale);
      else
        return _mm512_fmadd_ps(steps, scale, _mm512_set1_ps(header.of[kPanelRows + row]));
    };
#pragma GCC unroll 8
    for (int four = 0; four < kPanelRows / 4; ++four) {
      const __m512i words = _mm512_loadu_si512(q + four * kWordBytes);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const int row = 4 * four + i;
        const __m512i table = _mm512_add_epi32(reinterpret_cast<__m512i>(numbers_of(row)), _mm512_set1_epi32(0x8000));
        const __m512i twice = i == 0 ? _mm512_add_epi16(words, words) : _mm512_srli_epi16(words, 4 * i - 1);
        const __m512i upper = _mm512_or_si512(twice, _mm512_set1_epi16(1));
        _mm512_store_si512(out + row * kRowBytes, _mm512_permutexvar_epi16(upper, table));
      }
    }
  }
}

}  // namespace
}  // namespace slipstream
