// The linear kernel of weights in the small formats (panels.h) and int8 activations. Private to the
// kernels' .cpp files (lanes.h). For each group of 32 columns, in order:
//
//   1. dot := sum over the group of (q - zero) * activation    exact, in integers
//   2. sum := sum + dot * (weight scale * activation scale)
//   3. sum := sum + minimum * (activation scale * sum of activations)    q4_1 and q5_1 only
//
// Of q6_k, 1 and 2 for columns 0 to 15, and then for 16 to 31: a run has its own scale.
//
// Then the row's outliers (outliers.h).
//
// Rows are independent of each other. Paths differ only in the rounding of f32.
#pragma once

#include "kernels/cpu/outliers.h"
#include "kernels/cpu/small_panels.h"
#include "kernels/cpu/tiles.h"
#include "kernels/cpu/word_q.h"

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

// Runs of a group, each with its own scale. Of two, the first has the low nibbles.
template <WeightFormat kFormat>
constexpr int32_t kRuns = kGroupColumns / run_numbers(kFormat);

// The word of one of the eight steps of a group: words j and j + 4 follow each other where they share
// their nibbles.
template <WeightFormat kFormat>
constexpr int word_at(int step) {
  return kFormat == WeightFormat::q8_0 || kRuns<kFormat> > 1 ? step : step % 2 * 4 + step / 2;
}

// Fetches the lines of a half that are a step's share.
template <WeightFormat kFormat, int kRows, int kStep>
[[maybe_unused]] SLIPSTREAM_INLINE void fetch_step(const std::byte* words) {
  constexpr int kLines = half_bytes(kFormat) / kWordBytes;
#pragma GCC unroll 8
  for (int line = (kStep * kLines + 7) / 8; line * 8 < (kStep + 1) * kLines; ++line) {
    fetch_small<kFormat, kRows>(words + line * kWordBytes);
  }
}

// What a sum of q * activation begins with, so that it becomes one of (q - zero) * activation.
template <WeightFormat kFormat, int kRun>
[[maybe_unused]] SLIPSTREAM_INLINE int32_t start_of(const ActivationGroup& group) {
  if constexpr (kFormat == WeightFormat::q6_k) return kRun == 0 ? group.bias[2] : 4 * group.bias[0] - group.bias[2];
  return has_minimum(kFormat) ? 0 : group.bias[kFormat == WeightFormat::q8_0];
}

// dots[t] = sum over a run's columns of row t's activations times (q - zero), for kPartsAtOnce
// vectors of output rows, whose words begin at `words`.
#if defined(__AVX512VNNI__)

template <WeightFormat kFormat, int kRun, int kRows>
SLIPSTREAM_INLINE void dot(const std::byte* words, const ActivationGroup* in, int64_t stride,
                           VectorInt (&dots)[kRows][kPartsAtOnce]) {
  __m512i sums[kRows][2];
#pragma GCC unroll 8
  for (int t = 0; t < kRows; ++t) sums[t][0] = sums[t][1] = _mm512_set1_epi32(start_of<kFormat, kRun>(in[t * stride]));
  const auto add = [&]<int kStep>(std::integral_constant<int, kStep>) __attribute__((always_inline)) {
    constexpr int kWord = word_at<kFormat>(kStep);
    const __m512i first = word_q<kFormat, kWord>(words), second = word_q<kFormat, kWord>(words + half_bytes(kFormat));
    fetch_step<kFormat, kRows, kStep>(words);
    fetch_step<kFormat, kRows, kStep>(words + half_bytes(kFormat));
#pragma GCC unroll 8
    for (int t = 0; t < kRows; ++t) {
      const __m512i x = _mm512_set1_epi32(four(in[t * stride], kWord));
      sums[t][0] = _mm512_dpbusd_epi32(sums[t][0], first, x);
      sums[t][1] = _mm512_dpbusd_epi32(sums[t][1], second, x);
    }
  };
  constexpr int kSteps = 8 / kRuns<kFormat>;
  [&]<int... kStep>(std::integer_sequence<int, kStep...>) __attribute__((always_inline)) {
    (add(std::integral_constant<int, kRun * kSteps + kStep>()), ...);
  }(std::make_integer_sequence<int, kSteps>());
#pragma GCC unroll 8
  for (int t = 0; t < kRows; ++t) {
    dots[t][0] = reinterpret_cast<VectorInt>(sums[t][0]);
    dots[t][1] = reinterpret_cast<VectorInt>(sums[t][1]);
  }
}

#elif defined(__AVX2__)

// VPMADDUBSW multiplies unsigned by signed bytes and adds two products in 16 bits.
//   4-bit q: eight such sums fit 16 bits (8 * 2 * 15 * 127 < 2^15), so one group is added there.
//   5-bit q: four fit (4 * 2 * 31 * 127 < 2^15).
//   6-bit q: two fit (2 * 2 * 63 * 127 < 2^15).
//   8-bit q: only one sum of |q| <= 128 fits (2 * 128 * 127 < 2^15). The first factor is |q|, so the sign of q goes
//            to the activation.
template <WeightFormat kFormat>
constexpr int kSumsThatFit = kFormat == WeightFormat::q8_0 ? 1 : 8 >> high_bits(kFormat);

template <WeightFormat kFormat, int kRun, int kRows>
SLIPSTREAM_INLINE void dot(const std::byte* words, const ActivationGroup* in, int64_t stride,
                           VectorInt (&dots)[kRows][kPartsAtOnce]) {
  Bytes sums[kRows][kPartsAtOnce], pairs[kRows][kPartsAtOnce];  // of 32 bits, and of 16
#pragma GCC unroll 4
  for (int t = 0; t < kRows; ++t) {
    for (Bytes& each : sums[t]) each = every_four(0);
    for (Bytes& each : pairs[t]) each = every_four(0);
  }
  constexpr int kSteps = 8 / kRuns<kFormat>;
  const auto add = [&]<int kStep>(std::integral_constant<int, kStep>) __attribute__((always_inline)) {
    constexpr int kWord = word_at<kFormat>(kStep);
    fetch_step<kFormat, kRows, kStep>(words);
    constexpr bool kFull = kStep % kSumsThatFit<kFormat> == kSumsThatFit<kFormat> - 1;
#pragma GCC unroll 2
    for (int part = 0; part < kPartsAtOnce; ++part) {
      const std::byte* at = words + part * 4 * kVectorLanes;
      const Bytes q = word_q<kFormat, kWord>(at), value = kFormat == WeightFormat::q8_0 ? flip_top(q) : q;
      const Bytes size = kFormat == WeightFormat::q8_0 ? sizes(value) : value;
#pragma GCC unroll 4
      for (int t = 0; t < kRows; ++t) {
        const Bytes x = every_four(four(in[t * stride], kWord));
        pairs[t][part] = add_16(pairs[t][part], pair_sums(size, kFormat == WeightFormat::q8_0 ? signed_as(x, value) : x));
        if constexpr (kFull) {
          sums[t][part] = reinterpret_cast<Bytes>(reinterpret_cast<VectorInt>(sums[t][part]) +
                                                  reinterpret_cast<VectorInt>(four_sums(pairs[t][part])));
          pairs[t][part] = every_four(0);
        }
      }
    }
  };
  [&]<int... kStep>(std::integer_sequence<int, kStep...>) __attribute__((always_inline)) {
    (add(std::integral_constant<int, kRun * kSteps + kStep>()), ...);
  }(std::make_integer_sequence<int, kSteps>());
#pragma GCC unroll 4
  for (int t = 0; t < kRows; ++t) {
#pragma GCC unroll 2
    for (int part = 0; part < kPartsAtOnce; ++part) {
      dots[t][part] = reinterpret_cast<VectorInt>(sums[t][part]);
      if (kFormat != WeightFormat::q8_0) dots[t][part] += start_of<kFormat, kRun>(in[t * stride]);
    }
  }
}

#else

template <WeightFormat kFormat, int kRun, int kRows>
SLIPSTREAM_INLINE void dot(const std::byte* words, const ActivationGroup* in, int64_t stride,
                           VectorInt (&dots)[kRows][kPartsAtOnce]) {
  for (int t = 0; t < kRows; ++t) {
    for (VectorInt& each : dots[t]) each = VectorInt{};
  }
  for (int32_t i = 0; i < run_numbers(kFormat); ++i) {
    const int32_t col = kRun * run_numbers(kFormat) + i;
    for (int part = 0; part < kPartsAtOnce; ++part) {
      const VectorInt q = column_q<kFormat>(words + part * 4 * kVectorLanes, col) - zero_of(kFormat);
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
  constexpr int64_t kHeader = group_header_bytes(kFormat);
  for (int64_t line = 0; line < kHeader; line += kWordBytes) fetch_small<kFormat, kRows>(at + line);
  const auto add_run = [&]<int kRun>(std::integral_constant<int, kRun>, int first) __attribute__((always_inline)) {
    VectorInt dots[kRows][kPartsAtOnce];
    // Without this barrier the compiler keeps the activations of one half for the other, spilling
    // registers.
    asm volatile("" ::: "memory");
    dot<kFormat, kRun>(at + kHeader + first * kVectorLanes / kHalfRows * half_bytes(kFormat), in, stride, dots);
#pragma GCC unroll 4
    for (int i = 0; i < kPartsAtOnce; ++i) {
      const std::byte* scales = at + (first + i) * kVectorLanes * 2;
      auto& sum = sums[first + i];
      const Vector scale = load_halves(scales + kRun * kScalesBytes);
#pragma GCC unroll 8
      for (int t = 0; t < kRows; ++t) {
        sum[t] = multiply_add(__builtin_convertvector(dots[t][i], Vector), scale * every(in[t * stride].scale), sum[t]);
      }
      if constexpr (has_minimum(kFormat)) {
        const Vector minimum = load_halves(scales + kScalesBytes);
#pragma GCC unroll 8
        for (int t = 0; t < kRows; ++t) sum[t] = multiply_add(minimum, every(in[t * stride].total), sum[t]);
      }
    }
  };
#pragma GCC unroll 2
  for (int first = 0; first < kParts; first += kPartsAtOnce) {
    add_run(std::integral_constant<int, 0>(), first);
    if constexpr (kRuns<kFormat> > 1) add_run(std::integral_constant<int, 1>(), first);
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
