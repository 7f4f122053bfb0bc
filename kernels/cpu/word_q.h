// Bytes of a register, and the q of one word of a panel (panels.h) as such. Private to the kernels'
// .cpp files (lanes.h), of paths with AVX2.
#pragma once

#include "kernels/cpu/small_panels.h"

#if defined(__AVX2__)

namespace slipstream {
namespace {

#if defined(__AVX512F__)
typedef __m512i Bytes;
SLIPSTREAM_INLINE Bytes load_bytes(const std::byte* from) { return _mm512_loadu_si512(from); }
SLIPSTREAM_INLINE Bytes every_four(int32_t bytes) { return _mm512_set1_epi32(bytes); }
SLIPSTREAM_INLINE Bytes flip_top(Bytes a) { return _mm512_xor_si512(a, _mm512_set1_epi8(-128)); }
SLIPSTREAM_INLINE Bytes low_nibbles(Bytes a) { return _mm512_and_si512(a, _mm512_set1_epi8(15)); }
SLIPSTREAM_INLINE Bytes high_nibbles(Bytes a) { return low_nibbles(_mm512_srli_epi16(a, 4)); }
template <int kBy>  // to the right, within 16 bits
SLIPSTREAM_INLINE Bytes shifted(Bytes a) {
  return kBy < 0 ? _mm512_slli_epi16(a, kBy < 0 ? -kBy : 0) : _mm512_srli_epi16(a, kBy < 0 ? 0 : kBy);
}
SLIPSTREAM_INLINE Bytes or_masked(Bytes a, Bytes b, int mask) {
  return _mm512_or_si512(a, _mm512_and_si512(b, _mm512_set1_epi8(static_cast<char>(mask))));
}
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
template <int kBy>  // to the right, within 16 bits
SLIPSTREAM_INLINE Bytes shifted(Bytes a) {
  return kBy < 0 ? _mm256_slli_epi16(a, kBy < 0 ? -kBy : 0) : _mm256_srli_epi16(a, kBy < 0 ? 0 : kBy);
}
SLIPSTREAM_INLINE Bytes or_masked(Bytes a, Bytes b, int mask) {
  return _mm256_or_si256(a, _mm256_and_si256(b, _mm256_set1_epi8(static_cast<char>(mask))));
}
SLIPSTREAM_INLINE Bytes sizes(Bytes a) { return _mm256_abs_epi8(a); }
SLIPSTREAM_INLINE Bytes signed_as(Bytes a, Bytes sign) { return _mm256_sign_epi8(a, sign); }
SLIPSTREAM_INLINE Bytes pair_sums(Bytes sizes, Bytes values) { return _mm256_maddubs_epi16(sizes, values); }
SLIPSTREAM_INLINE Bytes four_sums(Bytes pairs) { return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)); }
SLIPSTREAM_INLINE Bytes add_16(Bytes a, Bytes b) { return _mm256_add_epi16(a, b); }
#endif

// The q of word kWord, of the rows whose first word begins at `words`.
template <WeightFormat kFormat, int kWord>
SLIPSTREAM_INLINE Bytes word_q(const std::byte* words) {
  const Bytes word = load_bytes(words + kWord % low_words(kFormat) * kWordBytes);
  if constexpr (kFormat == WeightFormat::q8_0) {
    return word;
  } else {
    const Bytes low = kWord < 4 ? low_nibbles(word) : high_nibbles(word);
    if constexpr (high_bits(kFormat) == 0) {
      return low;
    } else {
      constexpr int kTogether = 8 / high_bits(kFormat), kShift = kWord % kTogether * high_bits(kFormat) - 4;
      const Bytes high = load_bytes(words + (4 + kWord / kTogether) * kWordBytes);
      return or_masked(low, shifted<kShift>(high), most_q(kFormat) - 15);
    }
  }
}

}  // namespace
}  // namespace slipstream

#endif
