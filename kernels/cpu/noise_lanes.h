// The noise levels of consecutive tokens by vectors of 64-bit lanes: what noise_levels() of
// kernels/exact/noise.h gives. A lane holds a word of one counter (four tokens) in its lower half;
// VPMULUDQ multiplies lower halves, so what a step leaves in the upper ones does not matter, and no
// product has to be taken apart. Private to kernels/cpu/vocabulary_*.cpp.
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "kernels/exact/noise.h"

namespace slipstream {
namespace {

#ifdef __AVX2__
#define SLIPSTREAM_LANES [[maybe_unused]] [[gnu::always_inline]] static inline

#ifdef __AVX512F__
using Wide = __m512i;
SLIPSTREAM_LANES Wide every_lane(uint64_t value) { return _mm512_set1_epi64(static_cast<int64_t>(value)); }
SLIPSTREAM_LANES Wide lane_numbers() { return _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7); }
SLIPSTREAM_LANES Wide times(Wide a, Wide b) { return _mm512_mul_epu32(a, b); }
SLIPSTREAM_LANES Wide plus(Wide a, Wide b) { return _mm512_add_epi64(a, b); }
SLIPSTREAM_LANES Wide upper(Wide a) { return _mm512_srli_epi64(a, 32); }
SLIPSTREAM_LANES Wide xor_of(Wide a, Wide b, Wide c) { return _mm512_ternarylogic_epi64(a, b, c, 0x96); }
// Two words of each lane, the first below.
SLIPSTREAM_LANES Wide pair(Wide first, Wide second) {
  return _mm512_mask_blend_epi32(0xAAAA, first, _mm512_slli_epi64(second, 32));
}
// noise_level() of each word.
SLIPSTREAM_LANES Wide levels_of_words(Wide words) {
  const Wide rest = _mm512_srli_epi32(_mm512_andnot_si512(words, _mm512_set1_epi32(-1)), 8);
  const Wide exponent = _mm512_srli_epi32(_mm512_castps_si512(_mm512_cvtepi32_ps(rest)), 23);
  return _mm512_min_epi32(_mm512_sub_epi32(_mm512_set1_epi32(127 + 24), exponent), _mm512_set1_epi32(kNoiseLevelMax));
}
// The bytes of each lane, of which a word of `low` has the first and the third, one of `high` the
// others.
SLIPSTREAM_LANES void store_levels(Wide low, Wide high, uint8_t* to) {
  const Wide spread = _mm512_or_si512(low, _mm512_slli_epi64(high, 16));
  const Wide joined = _mm512_or_si512(spread, _mm512_srli_epi64(spread, 24));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi64_epi32(joined));
}
#else
using Wide = __m256i;
SLIPSTREAM_LANES Wide every_lane(uint64_t value) { return _mm256_set1_epi64x(static_cast<int64_t>(value)); }
SLIPSTREAM_LANES Wide lane_numbers() { return _mm256_setr_epi64x(0, 1, 2, 3); }
SLIPSTREAM_LANES Wide times(Wide a, Wide b) { return _mm256_mul_epu32(a, b); }
SLIPSTREAM_LANES Wide plus(Wide a, Wide b) { return _mm256_add_epi64(a, b); }
SLIPSTREAM_LANES Wide upper(Wide a) { return _mm256_srli_epi64(a, 32); }
SLIPSTREAM_LANES Wide xor_of(Wide a, Wide b, Wide c) { return _mm256_xor_si256(_mm256_xor_si256(a, b), c); }
SLIPSTREAM_LANES Wide pair(Wide first, Wide second) { return _mm256_blend_epi32(first, _mm256_slli_epi64(second, 32), 0xAA); }
SLIPSTREAM_LANES Wide levels_of_words(Wide words) {
  const Wide rest = _mm256_srli_epi32(_mm256_andnot_si256(words, _mm256_set1_epi32(-1)), 8);
  const Wide exponent = _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(rest)), 23);
  return _mm256_min_epi32(_mm256_sub_epi32(_mm256_set1_epi32(127 + 24), exponent), _mm256_set1_epi32(kNoiseLevelMax));
}
SLIPSTREAM_LANES void store_levels(Wide low, Wide high, uint8_t* to) {
  const Wide spread = _mm256_or_si256(low, _mm256_slli_epi64(high, 16));
  const Wide joined = _mm256_or_si256(spread, _mm256_srli_epi64(spread, 24));
  const Wide first = _mm256_permutevar8x32_epi32(joined, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(first));
}
#endif

constexpr int kWideCounters = sizeof(Wide) / 8;                   // of one vector
constexpr int kWidesOfBlock = kNoiseBlock / (4 * kWideCounters);  // that a block of tokens takes
constexpr int kBlocksAtOnce =
    kWidesOfBlock < 4 ? 4 / kWidesOfBlock : 1;  // so that four chains of products run beside each other
constexpr int kChains = kWidesOfBlock * kBlocksAtOnce;

// The levels of kChains vectors of counters, the first of which is `counter`.
[[maybe_unused]] void wide_levels(const NoiseKey& key, uint32_t counter, uint8_t* levels) {
  const PhiloxWords start = noise_counter(key, counter, 0);
  const Wide multiplier0 = every_lane(kPhiloxMultiplier0), multiplier2 = every_lane(kPhiloxMultiplier2);
  Wide c0[kChains], c1[kChains], c2[kChains], c3[kChains];
  for (int i = 0; i < kChains; ++i) {
    c0[i] = plus(every_lane(start.word[0] + static_cast<uint32_t>(i * kWideCounters)), lane_numbers());
    c1[i] = every_lane(start.word[1]), c2[i] = every_lane(start.word[2]), c3[i] = every_lane(start.word[3]);
  }
  auto k0 = static_cast<uint32_t>(key.seed), k1 = static_cast<uint32_t>(key.seed >> 32);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const Wide key0 = every_lane(k0), key1 = every_lane(k1);
#pragma GCC unroll 4
    for (int i = 0; i < kChains; ++i) {
      const Wide p0 = times(c0[i], multiplier0), p2 = times(c2[i], multiplier2);
      c0[i] = xor_of(upper(p2), c1[i], key0);
      c2[i] = xor_of(upper(p0), c3[i], key1);
      c1[i] = p2;
      c3[i] = p0;
    }
    k0 += kPhiloxWeyl0;
    k1 += kPhiloxWeyl1;
  }
#pragma GCC unroll 4
  for (int i = 0; i < kChains; ++i) {
    store_levels(levels_of_words(pair(c0[i], c1[i])), levels_of_words(pair(c2[i], c3[i])), levels + i * 4 * kWideCounters);
  }
}
#undef SLIPSTREAM_LANES
#endif

[[maybe_unused]] void levels_of(const NoiseKey& key, int64_t blocks, uint8_t* levels) {
  const NoiseKey own = key;
  int64_t block = 0;
#ifdef __AVX2__
  for (; block + kBlocksAtOnce <= blocks; block += kBlocksAtOnce) {
    wide_levels(own, static_cast<uint32_t>(block * kNoiseBlock / 4), levels + block * kNoiseBlock);
  }
#endif
  for (; block < blocks; ++block) noise_levels(own, static_cast<uint32_t>(block * kNoiseBlock), levels + block * kNoiseBlock);
}

}  // namespace
}  // namespace slipstream
