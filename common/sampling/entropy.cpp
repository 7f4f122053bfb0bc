#include "common/sampling/entropy.h"

#include <algorithm>
#include <cmath>

namespace slipstream {

float entropy_of(std::span<const float> logits, float temperature) {
  const float highest = *std::ranges::max_element(logits);
  const double scale = temperature > 0 ? 1.0 / temperature : 1.0;
  double total = 0, weighted = 0;
  for (const float logit : logits) {
    const double below = (logit - highest) * scale;
    const double weight = std::exp(below);
    if (weight == 0) continue;  // also of -infinity, times which would be NaN
    total += weight;
    weighted += weight * below;
  }
  return static_cast<float>(std::log(total) - weighted / total);
}

}  // namespace slipstream
