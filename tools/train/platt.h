// Platt's scaling: the line over logits that makes them probabilities of what was seen (Platt
// 1999).
#pragma once

#include <span>

namespace slipstream::train {

// P = 1 / (1 + exp(-(slope * logit + offset)))
struct PlattLine {
  double slope = 1, offset = 0;
};

// The line of the greatest likelihood, a little drawn to slope 1 and offset 0, so that there is one
// also if one outcome is never seen. seen: 1 or 0. REQUIRES: as many logits as outcomes; finite.
PlattLine fit_platt(std::span<const float> logits, std::span<const float> seen);

}  // namespace slipstream::train
