// The weights of many tokens at once (fixed_weight.h), and bounds of what a whole row weighs, which cost a fraction of it.
#pragma once

#include <cstdint>
#include <span>

namespace slipstream {

// weights: [scaled] round(exp(scaled - highest) * 2^44) of each; highest is not below any. Returns their sum.
uint64_t weigh(std::span<const float> scaled, float highest, uint64_t* weights);

// logits: [vocabulary], none NaN or +inf; highest: of logit * scale. The sum of all weights.
uint64_t weigh_row(std::span<const float> logits, float scale, float highest);

// That sum lies between them: exponentials in float, whose errors are bounded (weigh.cpp).
struct WeightBounds {
  uint64_t least = 0, most = 0;
};
// At most 2^18 logits.
WeightBounds bound_weight(std::span<const float> logits, float scale, float highest);

}  // namespace slipstream
