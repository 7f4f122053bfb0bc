// What devices share where they read weights and tables on the host.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "common/base/result.h"

namespace slipstream {

inline bool all_finite(std::span<const float> numbers) {
  return std::ranges::all_of(numbers, [](float each) { return std::isfinite(each); });
}

inline std::unexpected<Error> not_finite(std::string_view tensor) {
  return fail(
      "tensor {} holds numbers that are not finite, or too large for the format asked for: the model is damaged; fetch "
      "it anew, or try another --weights",
      tensor);
}

// How far each pair of a head is turned at a position, times the factor. cosine, sine:
// [frequencies].
inline void write_rotation(std::span<const float> frequencies, float factor, int32_t position, float* cosine, float* sine) {
  for (const float frequency : frequencies) {
    const double angle = static_cast<float>(position) * frequency;  // the product is rounded to f32, as in the reference
    *cosine++ = static_cast<float>(std::cos(angle)) * factor;
    *sine++ = static_cast<float>(std::sin(angle)) * factor;
  }
}

}  // namespace slipstream
