// Where the numbers of a panel in a small format lie (panels.h), and how kernels load them. Private
// to the kernels' .cpp files (lanes.h).
#pragma once

#include "kernels/cpu/lanes.h"
#include "kernels/cpu/panels.h"

namespace slipstream {
namespace {

constexpr int32_t kWordBytes = 64, kHalfRows = 16;
constexpr int32_t kParts = kPanelRows / kVectorLanes;  // vectors of a panel's rows
constexpr int64_t kScalesBytes = kPanelRows * 2;

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

// Distance in bytes between the words of a group's first half and those of its second half.
constexpr int32_t half_bytes(WeightFormat format) { return (format == WeightFormat::q8_0 ? 8 : 4) * kWordBytes; }

constexpr int64_t header_bytes(WeightFormat format) {  // of a group of a panel: its scales and minima
  return format == WeightFormat::q4_1 ? 2 * kScalesBytes : kScalesBytes;
}

}  // namespace
}  // namespace slipstream
