// What a penalty, a bias or a mask does to one logit, with the same bits on every device.
#pragma once

#include <cmath>
#include <cstdint>

namespace slipstream {

struct LogitEdit {
  int32_t token = 0;
  float scale = 1;    // divides a logit above 0, and multiplies any other one
  double add = -0.0;  // then added; -0: nothing, which keeps a logit of -0 as well
};

// In double, rounded to float once. A product of two floats is exact in double, so the bits do not
// depend on whether a compiler contracts it with the addition.
constexpr float edited(float logit, const LogitEdit& edit) {
  const auto exact = static_cast<double>(logit), scale = static_cast<double>(edit.scale);
  return static_cast<float>((logit > 0 ? exact / scale : exact * scale) + edit.add);
}

// NaN and +inf stay, because the chain must refuse their row.
constexpr float forbidden(float logit) { return logit <= 3.402823466e38F ? -INFINITY : logit; }

}  // namespace slipstream
