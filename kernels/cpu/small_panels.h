// Where the numbers of a panel in a small format lie (panels.h), and how kernels load them. Private
// to the kernels' .cpp files (lanes.h).
#pragma once

#include "kernels/cpu/lanes.h"
#include "kernels/cpu/panels.h"

namespace slipstream {
namespace {

constexpr int32_t kWordBytes = 64, kHalfRows = 16;
constexpr int32_t kParts = kPanelRows / kVectorLanes;  // vectors of a panel's rows

// Loads a vector of f16 as f32. The portable code takes finite numbers only; weights are finite
// (finite_row).
SLIPSTREAM_INLINE Vector load_halves(const std::byte* from) {
#if defined(__AVX512F__)
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#elif defined(__AVX2__)
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#else
  uint16_t halves[kVectorLanes];
  std::memcpy(halves, from, sizeof(halves));
  VectorInt bits;
  for (int32_t i = 0; i < kVectorLanes; ++i) bits[i] = halves[i];
  // The exponents are biased by 15 and 127, so multiply by 2^112. Exact, subnormals included.
  const Vector magnitude = reinterpret_cast<Vector>((bits & 0x7FFF) << 13) * 0x1p112F;
  return reinterpret_cast<Vector>(reinterpret_cast<VectorInt>(magnitude) | (bits & 0x8000) << 16);
#endif
}

// The words of a half that hold whole q of 8 bits, or the lower four bits of q. Those with the bits
// above them follow.
constexpr int32_t low_words(WeightFormat format) { return format == WeightFormat::q8_0 ? 8 : 4; }

// The q of one column of a group, for a vector of rows. at: the first word, from these rows on.
template <WeightFormat kFormat>
SLIPSTREAM_INLINE VectorInt column_q(const std::byte* at, int32_t column) {
  const auto col = static_cast<uint32_t>(column);  // unsigned, so that the divisions are shifts
  const uint32_t word = col / 4, byte = col % 4 * 8;
  const auto load = [at](uint32_t which) __attribute__((always_inline)) {
    VectorInt words;
    std::memcpy(&words, at + which * kWordBytes, sizeof(words));
    return words;
  };
  const auto shifted = [](VectorInt words, uint32_t by)
                           __attribute__((always_inline)) { return words >> static_cast<int32_t>(by); };
  if constexpr (kFormat == WeightFormat::q8_0) return shifted(load(word), byte) & 255;
  VectorInt q = shifted(load(word % 4), byte + word / 4 * 4) & 15;
  if constexpr (high_bits(kFormat) > 0) {
    constexpr uint32_t kTogether = 8 / high_bits(kFormat);  // words whose high bits share one
    const VectorInt high = load(4 + word / kTogether);
    q |= shifted(high, byte + word % kTogether * high_bits(kFormat)) << 4 & (most_q(kFormat) - 15);
  }
  return q;
}

}  // namespace
}  // namespace slipstream
