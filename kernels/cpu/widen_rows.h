// Weights in a small format, in the layout `rows` (panels.h), to bf16: the numbers of the format,
// rounded to the nearest, of four and five bits halves away from zero. Private to the .cpp files of
// paths with AVX-512 BF16.
//
// Four bits: a row's group has one of sixteen numbers for each q, so they are computed once, in
// f32. Half a unit of bf16 is added, so that the upper half of each is the rounded number (a
// conversion takes four times as long), and VPERMW looks up 32 such halves: number q has its
// upper half at 2 q + 1. Of each index VPERMW reads the lowest five bits only, so the q of the
// other rows, which share the word, need not be masked out. Five bits: VPERMI2W looks up 64.
#pragma once

#include <immintrin.h>

#include <utility>

#include "kernels/cpu/small_panels.h"

namespace slipstream {
namespace {

// The header of a group as floats: the scales of its 32 rows, then what else the format has of
// each.
template <WeightFormat kFormat>
struct Header {
  static constexpr int32_t kNumbers = group_header_bytes(kFormat) / 2;
  alignas(64) float of[kNumbers];

  [[gnu::always_inline]] explicit Header(const std::byte* group) {
#pragma GCC unroll 4
    for (int32_t at = 0; at < kNumbers; at += kVectorLanes) _mm512_store_ps(of + at, load_halves(group + at * 2));
    asm volatile("" ::: "memory");  // or the compiler takes each number out of the register by a shuffle, not from memory
  }
  [[gnu::always_inline]] __m512 scale(int row) const { return _mm512_set1_ps(of[row]); }
  [[gnu::always_inline]] __m512 second(int row) const { return _mm512_set1_ps(of[kPanelRows + row]); }
};

// Two vectors of 16 integers, each times its scale, as the 32 bf16 of a row.
SLIPSTREAM_INLINE __m512i scaled(__m512i low, __m512i high, __m512 low_scale, __m512 high_scale) {
  const __m512 first = _mm512_mul_ps(_mm512_cvtepi32_ps(low), low_scale);
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(_mm512_mul_ps(_mm512_cvtepi32_ps(high), high_scale), first));
}

// What q = first, first + 1, ... stand for in a row, with half a unit of bf16 added.
template <WeightFormat kFormat>
SLIPSTREAM_INLINE __m512i table_of(const Header<kFormat>& header, int row, float first) {
  const __m512 counted = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512 steps = _mm512_add_ps(counted, _mm512_set1_ps(first - zero_of(kFormat)));
  __m512 numbers;
  if constexpr (has_minimum(kFormat)) {
    numbers = _mm512_fmadd_ps(steps, header.scale(row), header.second(row));
  } else {
    numbers = _mm512_mul_ps(steps, header.scale(row));
  }
  return _mm512_add_epi32(reinterpret_cast<__m512i>(numbers), _mm512_set1_epi32(0x8000));
}

// 32 bytes as words of 16 bits, shifted to the right (to the left, if kBy < 0).
template <int kBy>
SLIPSTREAM_INLINE __m512i bytes_shifted(const std::byte* from) {
  const __m512i words = _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  return kBy < 0 ? _mm512_slli_epi16(words, kBy < 0 ? -kBy : 0) : _mm512_srli_epi16(words, kBy < 0 ? 0 : kBy);
}

// Row kRow of a group in a format of nibbles: 32 bf16. q: the group's q; words: those of the row and
// its three neighbours.
template <WeightFormat kFormat, int kRow>
SLIPSTREAM_INLINE __m512i widened(const Header<kFormat>& header, const std::byte* q, __m512i words) {
  constexpr int kShift = kRow % 4 * 4;
  const std::byte* high = q + kPanelRows / 4 * kWordBytes;
  // Twice the nibble: the lowest bit is any, and so are those above the nibble.
  const __m512i twice = kShift == 0 ? _mm512_add_epi16(words, words) : _mm512_srli_epi16(words, kShift == 0 ? 0 : kShift - 1);
  if constexpr (kFormat == WeightFormat::q6_k) {
    const __m512i low = _mm512_and_si512(_mm512_srli_epi16(words, kShift), _mm512_set1_epi16(15));
    const __m512i upper = bytes_shifted<kRow % 4 * 2 - 4>(high + kRow / 4 * kGroupColumns);
    const __m512i all = _mm512_or_si512(low, _mm512_and_si512(upper, _mm512_set1_epi16(0x30)));
    const __m512i steps = _mm512_sub_epi16(all, _mm512_set1_epi16(zero_of(kFormat)));
    return scaled(_mm512_cvtepi16_epi32(_mm512_castsi512_si256(steps)),
                  _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(steps, 1)), header.scale(kRow), header.second(kRow));
  } else if constexpr (kFormat == WeightFormat::q5_1) {
    const __m512i fifth = bytes_shifted<kRow % 8 - 5>(high + kRow / 8 * kGroupColumns);
    const __m512i nibble = _mm512_and_si512(twice, _mm512_set1_epi16(0x1E));
    const __m512i upper =
        _mm512_or_si512(_mm512_or_si512(nibble, _mm512_set1_epi16(1)), _mm512_and_si512(fifth, _mm512_set1_epi16(0x20)));
    return _mm512_permutex2var_epi16(table_of(header, kRow, 0), upper, table_of(header, kRow, 16));
  } else {
    return _mm512_permutexvar_epi16(_mm512_or_si512(twice, _mm512_set1_epi16(1)), table_of(header, kRow, 0));
  }
}

// Writes the group that begins at `group` to `out`, [32 rows][32 columns] of bf16 at a cache line.
template <WeightFormat kFormat>
SLIPSTREAM_INLINE void widen_rows(const std::byte* group, std::byte* out) {
  constexpr int64_t kRowBytes = 2 * kGroupColumns;
  const Header<kFormat> header(group);
  const std::byte* q = group + group_header_bytes(kFormat);
  if constexpr (kFormat == WeightFormat::q8_0) {
#pragma GCC unroll 8
    for (int row = 0; row < kPanelRows; ++row) {
      const auto signed_bytes = [](const std::byte* from) __attribute__((always_inline)) {
        return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
      };
      const std::byte* from = q + row * kGroupColumns;
      _mm512_store_si512(out + row * kRowBytes, scaled(signed_bytes(from), signed_bytes(from + kGroupColumns / 2),
                                                       header.scale(row), header.scale(row)));
    }
  } else {
    const auto write = [&]<int... kRow>(std::integer_sequence<int, kRow...>) __attribute__((always_inline)) {
      (_mm512_store_si512(out + kRow * kRowBytes,
                          widened<kFormat, kRow>(header, q, _mm512_loadu_si512(q + kRow / 4 * kWordBytes))),
       ...);
    };
    write(std::make_integer_sequence<int, kPanelRows>());
  }
}

}  // namespace
}  // namespace slipstream
