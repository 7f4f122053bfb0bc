// The loops behind VocabularyKernels: one source in plain C++, compiled once for each instruction
// set. Plain arrays and fixed trip counts let the compiler vectorise them. Private to
// kernels/cpu/vocabulary_*.cpp. Everything is in an unnamed namespace or always inlined, because
// these files compile it with different flags and must not share a copy.
#pragma once

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "kernels/cpu/noise_lanes.h"
#include "kernels/cpu/vocabulary.h"
#include "kernels/exact/exp_fixed.h"

#define SLIPSTREAM_LOOP [[maybe_unused]] [[gnu::always_inline]] static inline

namespace slipstream {
namespace {

constexpr float kMaskedLogit = -__builtin_inff();
constexpr float kFloatMax = __FLT_MAX__;
constexpr int kScanLanes = 16;

// Calls visit(block, index) for each block of a row. A short last block is padded with masked
// tokens.
template <class Visit>
[[gnu::always_inline]] inline void each_block(const float* row, int64_t size, const Visit& visit) {
  const int64_t full = size / kScanBlock, rest = size % kScanBlock;
  for (int64_t b = 0; b < full; ++b) visit(row + b * kScanBlock, b);
  if (rest == 0) return;
  float padded[kScanBlock];
  for (float& each : padded) each = kMaskedLogit;
  __builtin_memcpy(padded, row + full * kScanBlock, static_cast<unsigned long>(rest) * sizeof(float));
  visit(padded, full);
}

// The highest of kCount values, which it overwrites. Each round joins entry i with entry i + n/2,
// which is one vector operation. Each round is an instance of the template, because compilers turn
// one loop over the widths into branches.
template <int kCount>
[[gnu::always_inline]] inline float highest_of(float* values) {
  if constexpr (kCount == 1) {
    return values[0];
  } else {
    for (int i = 0; i < kCount / 2; ++i) values[i] = values[i] > values[i + kCount / 2] ? values[i] : values[i + kCount / 2];
    return highest_of<kCount / 2>(values);
  }
}

// The bound of one full block. Adds to unusable[lane] the number of NaN and +inf.
template <bool kLevels>
[[gnu::always_inline]] inline float bound_of(const float* logits, float scale, const uint8_t* levels, int32_t* unusable) {
  float bound[kScanBlock];
  for (int i = 0; i < kScanBlock; ++i) {
    const float scaled = logits[i] * scale;
    bound[i] = kLevels ? scaled + static_cast<float>(levels[i]) * static_cast<float>(kNoiseLevelNats) : scaled;
  }
  for (int start = 0; start < kScanBlock; start += kScanLanes) {
    for (int lane = 0; lane < kScanLanes; ++lane) unusable[lane] += !(logits[start + lane] * scale <= kFloatMax);
  }
  return highest_of<kScanBlock>(bound);
}

// Computes the bounds of all blocks. Returns whether all logits are usable.
template <bool kLevels>
[[gnu::always_inline]] inline bool bound_blocks(const float* logits, int64_t vocabulary, float scale, const uint8_t* levels,
                                                float* bounds) {
  int32_t unusable[kScanLanes] = {};
  each_block(logits, vocabulary, [&](const float* block, int64_t b) __attribute__((always_inline)) {
    bounds[b] = bound_of<kLevels>(block, scale, kLevels ? levels + b * kScanBlock : nullptr, unusable);
  });
  int32_t all = 0;
  for (const int32_t count : unusable) all |= count;
  return all == 0;
}

[[maybe_unused]] RowScan scan(const float* logits, int64_t vocabulary, float scale, const uint8_t* levels, float* bounds) {
  const bool usable = levels != nullptr ? bound_blocks<true>(logits, vocabulary, scale, levels, bounds)
                                        : bound_blocks<false>(logits, vocabulary, scale, nullptr, bounds);
  float highest = bounds[0];
  for (int64_t b = 1; b < scan_blocks(vocabulary); ++b) highest = highest < bounds[b] ? bounds[b] : highest;
  return {.highest = highest, .finite = usable && highest > kMaskedLogit};
}

#ifdef __AVX512F__
// Appends the tokens of [begin, end) that qualify to the `listed` ones, and returns the new number.
// Written by hand, because no compiler makes compress instructions of a plain loop, which takes
// eight times as long.
SLIPSTREAM_LOOP int64_t list_block(const ListArgs& args, int64_t begin, int64_t end, int64_t listed) {
  const __m512 scale = _mm512_set1_ps(args.scale), floor = _mm512_set1_ps(args.floor), masked = _mm512_set1_ps(kMaskedLogit);
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (int64_t token = begin; token < end; token += 16) {
    const auto there = static_cast<__mmask16>(end - token < 16 ? (1u << (end - token)) - 1 : 0xFFFFu);
    const __m512 scaled = _mm512_mul_ps(_mm512_maskz_loadu_ps(there, args.logits + token), scale);
    const __mmask16 high = _mm512_mask_cmp_ps_mask(there, scaled, floor, _CMP_GE_OQ);
    const __mmask16 kept = _mm512_mask_cmp_ps_mask(high, scaled, masked, _CMP_GT_OQ);
    const __m512i id = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(token)), lanes);
    _mm512_storeu_si512(args.ids + listed, _mm512_maskz_compress_epi32(kept, id));
    _mm512_storeu_ps(args.scaled + listed, _mm512_maskz_compress_ps(kept, scaled));
    listed += __builtin_popcount(kept);
  }
  return listed;
}
#else
SLIPSTREAM_LOOP int64_t list_block(const ListArgs& args, int64_t begin, int64_t end, int64_t listed) {
  for (int64_t token = begin; token < end; ++token) {
    const float scaled = args.logits[token] * args.scale;
    args.ids[listed] = static_cast<int32_t>(token);
    args.scaled[listed] = scaled;
    listed += (scaled >= args.floor) & (scaled > kMaskedLogit);
  }
  return listed;
}
#endif

[[maybe_unused]] int64_t list(const ListArgs& args) {
  int64_t listed = 0;
  for (int64_t b = 0; b < scan_blocks(args.vocabulary); ++b) {
    if (args.block_max[b] < args.floor) continue;
    const int64_t end = (b + 1) * kScanBlock;
    listed = list_block(args, b * kScanBlock, end < args.vocabulary ? end : args.vocabulary, listed);
  }
  return listed;
}

[[maybe_unused]] uint64_t exp_each(const float* scaled, int64_t count, float highest, uint64_t* out) {
  uint64_t total = 0;
  for (int64_t i = 0; i < count; ++i) {
    out[i] = exp_fixed(static_cast<double>(scaled[i]) - static_cast<double>(highest));
    total += out[i];
  }
  return total;
}

[[maybe_unused]] uint64_t exp_sum(const float* logits, int64_t vocabulary, float scale, float highest) {
  uint64_t totals[kScanLanes] = {};
  each_block(logits, vocabulary, [&](const float* block, int64_t) __attribute__((always_inline)) {
    uint64_t powers[kScanBlock];
    for (int i = 0; i < kScanBlock; ++i)
      powers[i] = exp_fixed(static_cast<double>(block[i] * scale) - static_cast<double>(highest));
    for (int i = 0; i < kScanBlock; ++i) totals[i % kScanLanes] += powers[i];
  });
  uint64_t total = 0;
  for (const uint64_t each : totals) total += each;
  return total;
}

// exp(x) for x <= 0. Down to x = -40 the relative error is at most 2^-22 + e, where e is half an
// ulp of x, because the product k ln 2 is rounded as x was. Below -40 the result is under 2^-56.
// The polynomial interpolates exp at six Chebyshev points, within 2.3e-7 in floats.
SLIPSTREAM_LOOP float quick_exp(float x) {
  constexpr float kRound = 0x1.8p23F;
  x = x > -40.0F ? x : -40.0F;
  const float shifted = x * 0x1.715476p+0F + kRound;  // x / ln 2
  const float k = shifted - kRound;
  const float r = x - k * 0x1.62E430p-1F;
  float sum = 0x1.123D90p-7F;
  sum = sum * r + 0x1.57637Ep-5F;
  sum = sum * r + 0x1.55547Cp-3F;
  sum = sum * r + 0x1.FFFD08p-2F;
  sum = sum * r + 0x1.000000p+0F;
  sum = sum * r + 0x1.000002p+0F;
  return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, sum) + (__builtin_bit_cast(uint32_t, shifted) << 23));
}

// Each lane adds four terms per block in float, then adds their sum to a double.
[[maybe_unused]] ExpSumBounds exp_sum_bounds(const float* logits, int64_t vocabulary, float scale, float highest) {
  double totals[kScanLanes] = {};
  each_block(logits, vocabulary, [&](const float* block, int64_t) __attribute__((always_inline)) {
    float sums[kScanLanes] = {};
    for (int start = 0; start < kScanBlock; start += kScanLanes) {
      for (int lane = 0; lane < kScanLanes; ++lane) sums[lane] += quick_exp(block[start + lane] * scale - highest);
    }
    for (int lane = 0; lane < kScanLanes; ++lane) totals[lane] += static_cast<double>(sums[lane]);
  });
  double sum = 0;
  for (const double each : totals) sum += each;
  sum *= kExpFixedOne;
  // Relative error of the terms down to x = -16:
  //   2^-22 + 2^-21   quick_exp
  //   2^-24           ln 2 is rounded
  //   2^-21           x is rounded
  //   2^-22           four additions
  // Together that is below 2^-19. All terms below -16 add up to less than 2^18 exp(-16) < 1/32 of
  // the highest term, with at most three times that relative error.
  //
  // Absolute error: each exact term is rounded to within 2, and a term below -40 counts as at most
  // 2^-56, which is 2^-12 of a unit.
  const double slack = sum * 0x1p-18 + 4.0 * static_cast<double>(vocabulary);
  const double least = sum - slack;
  return {.least = static_cast<uint64_t>(least > 0.0 ? least : 0.0), .most = static_cast<uint64_t>(sum + slack) + 1};
}

static_assert(kNoiseBlock == kScanBlock);
constexpr VocabularyKernels kVocabularyLoops{.scan = scan,
                                             .list = list,
                                             .exp_each = exp_each,
                                             .exp_sum = exp_sum,
                                             .exp_sum_bounds = exp_sum_bounds,
                                             .noise_levels = levels_of};

}  // namespace
}  // namespace slipstream
