// What an acceptance head says of a drafted token: for each way of choosing the target's token the
// logit of the probability that the target chooses the drafted one, given that it chose all
// drafted tokens before it. Calibrated on held-out text when the head was trained.
#pragma once

#include <cmath>

namespace slipstream {

struct AcceptanceLogits {
  float greedy = 0;   // temperature 0: it is the target's likeliest token
  float sampled = 0;  // the target's choice under the noise that it shares with the drafter (docs/design/NOISE.md)

  // In [0, 1]; NaN if the head gave no number.
  static float probability(float logit) { return 1.0F / (1.0F + std::exp(-logit)); }
};
static_assert(sizeof(AcceptanceLogits) == 2 * sizeof(float));

}  // namespace slipstream
