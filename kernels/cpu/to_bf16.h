// Rounds activations to bf16. Private to the .cpp files of the paths that multiply bf16
// activations.
#pragma once

#include <immintrin.h>

#include "kernels/cpu/kernels.h"

namespace slipstream {
namespace {

// A mask of the first `count` lanes: none if count < 1, all from kLanes on.
inline __mmask16 first_lanes(int32_t count) {
  return static_cast<__mmask16>(count >= kLanes ? 0xFFFF : count <= 0 ? 0 : (1u << count) - 1);
}

void to_bf16(const float* in, int32_t count, uint16_t* out) {
  for (int32_t at = 0; at < count; at += kLanes) {
    const __mmask16 mask = first_lanes(count - at);
    const __m256bh rounded = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, in + at));
    _mm256_mask_storeu_epi16(out + at, mask, reinterpret_cast<__m256i>(rounded));
  }
}

}  // namespace
}  // namespace slipstream
