// The linear kernel of weights in the small formats (panels.h) and int8 activations. Private to the
// kernels' .cpp files (lanes.h). For each group of 32 columns, in order:
//
//   1. dot := sum over the group of (q - bias) * activation    exact, in integers; bias 128, 8 or 0
//   2. sum := sum + dot * (weight scale * activation scale)
//   3. sum := sum + minimum * (activation scale * sum of activations)    q4_1 only
//
// Then the row's outliers (outliers.h).
//
// Rows are independent of each other. Paths differ only in the rounding of f32.
#pragma once

#include "kernels/cpu/outliers.h"
#include "kernels/cpu/small_panels.h"
#include "kernels/cpu/tiles.h"

namespace slipstream {
namespace {

#if defined(__AVX512VNNI__)
constexpr int32_t kSmallTileRows = 8;  // all integer sums and some of the f32 sums stay in registers
#elif defined(__AVX2__)
constexpr int32_t kSmallTileRows = 4;
#else
constexpr int32_t kSmallTileRows = 2;
#endif
#if defined(__AVX512VNNI__)
constexpr int32_t kPartsAtOnce = kParts;  // 32 weights share each load of an activation: loads bound VPDPBUSD
#else
constexpr int32_t kPartsAtOnce = kHalfRows / kVectorLanes;
#endif

// With few rows, q8_0 weights are consumed faster than L1's line fill buffers take them, so they
// are prefetched into L2: the matrices of the 135m shape take 6 ms on a Zen 4 instead of 12.
template <WeightFormat kFormat, int kRows>
SLIPSTREAM_INLINE void fetch_small(const std::byte* at) {
  constexpr bool kEightBits = kFormat == WeightFormat::q8_0;
  fetch_ahead<kRows, kEightBits ? 4096 : 6144, kEightBits ? 2 : 3>(at);
}

SLIPSTREAM_INLINE int32_t four(const ActivationGroup& group, int32_t word) {  // columns 4 word .. 4 word + 3
  int32_t bytes;
  std::memcpy(&bytes, group.values + 4 * word, sizeof(bytes));
  return bytes;
}

// dots[t] = sum over the group's columns of row t's activations times (q - bias), for kPartsAtOnce
// vectors of output rows, whose words begin at `words`.
#if defined(__AVX512VNNI__)

template <WeightFormat kFormat, int kRows>
SLIPSTREAM_INLINE void dot(const std::byte* words, const ActivationGroup* in, int64_t stride,
                           VectorInt (&dots)[kRows][kPartsAtOnce]) {
  __m512i sums[kRows][2];
#pragma GCC unroll 8
  for (int t = 0; t < kRows; ++t) {
    const int32_t start = kFormat == WeightFormat::q4_1 ? 0 : in[t * stride].bias[kFormat == WeightFormat::q8_0];
    sums[t][0] = sums[t][1] = _mm512_set1_epi32(start);
  }
  const auto add = [&](__m512i first, __m512i second, int32_t word) __attribute__((always_inline)) {
#pragma GCC unroll 8
    for (int t = 0; t < kRows; ++t) {
      const __m512i x = _mm512_set1_epi32(four(in[t * stride], word));
      sums[t][0] = _mm512_dpbusd_epi32(sums[t][0], first, x);
      sums[t][1] = _mm512_dpbusd_epi32(sums[t][1], second, x);
    }
  };
  constexpr int32_t kWords = half_bytes(kFormat) / kWordBytes;
#pragma GCC unroll 8
  for (int32_t word = 0; word < kWords; ++word, words += kWordBytes) {
    const __m512i first = _mm512_loadu_si512(words), second = _mm512_loadu_si512(words + half_bytes(kFormat));
    fetch_small<kFormat, kRows>(words);
    fetch_small<kFormat, kRows>(words + half_bytes(kFormat));
    if constexpr (kFormat == WeightFormat::q8_0) {
      add(first, second, word);
    } else {
      const auto low = [](__m512i q) { return _mm512_and_si512(q, _mm512_set1_epi8(15)); };
      add(low(first), low(second), word);
      add(low(_mm512_srli_epi16(first, 4)), low(_mm512_srli_epi16(second, 4)), word + 4);
    }
  }
#pragma GCC unroll 8
  for (int t = 0; t < kRows; ++t) {
    dots[t][0] = reinterpret_cast<VectorInt>(sums[t][0]);
    dots[t][1] = reinterpret_cast<VectorInt>(sums[t][1]);
  }
}

#elif defined(__AVX2__)

// One register of bytes, and the operations that dot() needs.
#if defined(__AVX512F__)
typedef __m512i Bytes;
SLIPSTREAM_INLINE Bytes load_bytes(const std::byte* from) { return _mm512_loadu_si512(from); }
SLIPSTREAM_INLINE Bytes every_four(int32_t bytes) { return _mm512_set1_epi32(bytes); }
SLIPSTREAM_INLINE Bytes flip_top(Bytes a) { return _mm512_xor_si512(a, _mm512_set1_epi8(-128)); }
SLIPSTREAM_INLINE Bytes low_nibbles(Bytes a) { return _mm512_and_si512(a, _mm512_set1_epi8(15)); }
SLIPSTREAM_INLINE Bytes high_nibbles(Bytes a) { return low_nibbles(_mm512_srli_epi16(a, 4)); }
SLIPSTREAM_INLINE Bytes sizes(Bytes a) { return _mm512_abs_epi8(a); }
SLIPSTREAM_INLINE Bytes signed_as(Bytes a, Bytes sign) {
  return _mm512_mask_sub_epi8(a, _mm512_movepi8_mask(sign), _mm512_setzero_si512(), a);
}
SLIPSTREAM_INLINE Bytes pair_sums(Bytes sizes, Bytes values) { return _mm512_maddubs_epi16(sizes, values); }
SLIPSTREAM_INLINE Bytes four_sums(Bytes pairs) { return _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)); }
SLIPSTREAM_INLINE Bytes add_16(Bytes a, Bytes b) { return _mm512_add_epi16(a, b); }
#else
typedef __m256i Bytes;
SLIPSTREAM_INLINE Bytes load_bytes(const std::byte* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
SLIPSTREAM_INLINE Bytes every_four(int32_t bytes) { return _mm256_set1_epi32(bytes); }
SLIPSTREAM_INLINE Bytes flip_top(Bytes a) { return _mm256_xor_si256(a, _mm256_set1_epi8(-128)); }
SLIPSTREAM_INLINE Bytes low_nibbles(Bytes a) { return _mm256_and_si256(a, _mm256_set1_epi8(15)); }
SLIPSTREAM_INLINE Bytes high_nibbles(Bytes a) { return low_nibbles(_mm256_srli_epi16(a, 4)); }
SLIPSTREAM_INLINE Bytes sizes(Bytes a) { return _mm256_abs_epi8(a); }
SLIPSTREAM_INLINE Bytes signed_as(Bytes a, Bytes sign) { return _mm256_sign_epi8(a, sign); }
SLIPSTREAM_INLINE Bytes pair_sums(Bytes sizes, Bytes values) { return _mm256_maddubs_epi16(sizes, values); }
SLIPSTREAM_INLINE Bytes four_sums(Bytes pairs) { return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)); }
SLIPSTREAM_INLINE Bytes add_16(Bytes a, Bytes b) { return _mm256_add_epi16(a, b); }
#endif

// VPMADDUBSW multiplies unsigned by signed bytes and adds two products in 16 bits.
//   4-bit q: eight such sums fit 16 bits (8 * 2 * 15 * 127 < 2^15), so one group is added there.
//   8-bit q: only one sum of |q| <= 128 fits (2 * 128 * 127 < 2^15). The first factor is |q|, so the sign of q goes
//            to the activation.
template <WeightFormat kFormat, int kRows>
SLIPSTREAM_INLINE void dot(const std::byte* words, const ActivationGroup* in, int64_t stride,
                           VectorInt (&dots)[kRows][kPartsAtOnce]) {
  Bytes sums[kRows][kPartsAtOnce];
#pragma GCC unroll 4
  for (int t = 0; t < kRows; ++t) {
    for (Bytes& each : sums[t]) each = every_four(0);
  }
  constexpr int32_t kWords = half_bytes(kFormat) / kWordBytes;
#pragma GCC unroll 8
  for (int32_t word = 0; word < kWords; ++word) {
    fetch_small<kFormat, kRows>(words + word * kWordBytes);
#pragma GCC unroll 2
    for (int part = 0; part < kPartsAtOnce; ++part) {
      const Bytes q = load_bytes(words + word * kWordBytes + part * 4 * kVectorLanes);
      const Bytes value = flip_top(q), size = sizes(value), low = low_nibbles(q), high = high_nibbles(q);
#pragma GCC unroll 4
      for (int t = 0; t < kRows; ++t) {
        const Bytes x = every_four(four(in[t * stride], word));
        if constexpr (kFormat == WeightFormat::q8_0) {
          sums[t][part] = reinterpret_cast<Bytes>(reinterpret_cast<VectorInt>(sums[t][part]) +
                                                  reinterpret_cast<VectorInt>(four_sums(pair_sums(size, signed_as(x, value)))));
        } else {
          const Bytes next = every_four(four(in[t * stride], word + 4));
          sums[t][part] = add_16(sums[t][part], add_16(pair_sums(low, x), pair_sums(high, next)));
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int t = 0; t < kRows; ++t) {
#pragma GCC unroll 2
    for (int part = 0; part < kPartsAtOnce; ++part) {
      const Bytes sum = kFormat == WeightFormat::q8_0 ? sums[t][part] : four_sums(sums[t][part]);
      dots[t][part] = reinterpret_cast<VectorInt>(sum);
      if (kFormat == WeightFormat::q4_0) dots[t][part] += in[t * stride].bias[0];
    }
  }
}

#else

template <WeightFormat kFormat, int kRows>
SLIPSTREAM_INLINE void dot(const std::byte* words, const ActivationGroup* in, int64_t stride,
                           VectorInt (&dots)[kRows][kPartsAtOnce]) {
  for (int t = 0; t < kRows; ++t) {
    for (VectorInt& each : dots[t]) each = VectorInt{};
  }
  for (int32_t col = 0; col < kGroupColumns; ++col) {
    const int32_t word = col / 4, byte = col % 4 * 8;
    for (int part = 0; part < kPartsAtOnce; ++part) {
      VectorInt q;
      std::memcpy(&q, words + (kFormat == WeightFormat::q8_0 ? word : word % 4) * kWordBytes + part * 4 * kVectorLanes,
                  sizeof(q));
      q = kFormat == WeightFormat::q8_0 ? ((q >> byte) & 255) - 128 : (q >> (byte + word / 4 * 4)) & 15;
      if (kFormat == WeightFormat::q4_0) q -= 8;
      for (int t = 0; t < kRows; ++t) dots[t][part] += q * int32_t{in[t * stride].values[col]};
    }
  }
}

#endif

// Adds kRows groups of activations, which stand `stride` groups apart, times the group of a panel
// that begins at `at`.
template <WeightFormat kFormat, int kRows>
SLIPSTREAM_INLINE void add_group(const std::byte* at, const ActivationGroup* in, int64_t stride,
                                 Vector (&sums)[kParts][kRows]) {
  constexpr int64_t kHeader = header_bytes(kFormat);
  for (int64_t line = 0; line < kHeader; line += kWordBytes) fetch_small<kFormat, kRows>(at + line);
#pragma GCC unroll 2
  for (int first = 0; first < kParts; first += kPartsAtOnce) {
    VectorInt dots[kRows][kPartsAtOnce];
    // Without this barrier the compiler keeps the activations of one half for the other, spilling
    // registers.
    asm volatile("" ::: "memory");
    dot<kFormat>(at + kHeader + first * kVectorLanes / kHalfRows * half_bytes(kFormat), in, stride, dots);
#pragma GCC unroll 4
    for (int i = 0; i < kPartsAtOnce; ++i) {
      const std::byte* scales = at + (first + i) * kVectorLanes * 2;
      auto& sum = sums[first + i];
      const Vector scale = load_halves(scales);
#pragma GCC unroll 8
      for (int t = 0; t < kRows; ++t) {
        sum[t] = multiply_add(__builtin_convertvector(dots[t][i], Vector), scale * every(in[t * stride].scale), sum[t]);
      }
      if constexpr (kFormat == WeightFormat::q4_1) {
        const Vector minimum = load_halves(scales + kScalesBytes);
#pragma GCC unroll 8
        for (int t = 0; t < kRows; ++t) sum[t] = multiply_add(minimum, every(in[t * stride].total), sum[t]);
      }
    }
  }
}

// kRows rows of activations times one panel.
template <WeightFormat kFormat, int kRows>
void small_tile(const LinearArgs& args, int32_t panel, int32_t row) {
  const int64_t groups = groups_of(args.in_cols), stride = activation_groups(args.in_cols);
  const auto* in = static_cast<const ActivationGroup*>(args.in) + row * stride;
  const std::byte* weights = args.panels + panel * panel_bytes(kFormat, args.in_cols);
  Vector sums[kParts][kRows];
#pragma GCC unroll 8
  for (int part = 0; part < kParts; ++part) {
    for (int t = 0; t < kRows; ++t) sums[part][t] = Vector{};
  }
  const std::byte* at = weights;
  for (int64_t g = 0; g < groups; ++g, at += group_bytes(kFormat)) add_group<kFormat>(at, in + g, stride, sums);
#pragma GCC unroll 8
  for (int32_t part = 0; part < kParts; ++part) {
    const int32_t col = panel * kPanelRows + part * kVectorLanes, left = args.out_cols - col;
    if (left <= 0) return;
#pragma GCC unroll 8
    for (int t = 0; t < kRows; ++t) store_vector_part(args.out + (row + t) * args.out_stride + col, sums[part][t], left);
  }
}

template <WeightFormat kFormat>
void small_linear(const LinearArgs& args, int32_t begin, int32_t end) {
  static constexpr auto kTiles = []<int... kBelow>(std::integer_sequence<int, kBelow...>) {
    return TileTable<sizeof...(kBelow)>{{small_tile<kFormat, kBelow + 1>...}};
  }(std::make_integer_sequence<int, kSmallTileRows>{});
  for (int32_t panel = begin; panel < end; ++panel) {
    linear_by_tiles(kTiles.of, args, panel, panel + 1);
    add_outliers<kFormat>(args, panel);
  }
}

}  // namespace
}  // namespace slipstream
