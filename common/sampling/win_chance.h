// How likely a token is to be sampled next, for who knows the token's noise and guesses its
// probability.
//
// Above temperature 0 the target takes argmax_v log p(v) + gumbel_v (docs/design/NOISE.md). The
// largest of all others' sums is a Gumbel variable of location log(1 - p(v)), so
//
//   P(v wins | gumbel_v = g) = P(G + log(1 - p) < log p + g) = exp(-(1 - p)/p e^-g)
//
// Its mean over g is p. But a drafter shares the noise, so it knows g: of guesses with p = 0.5 the
// tenth with the largest noise is right nine times in ten.
#pragma once

#include <cmath>

namespace slipstream {

// probability: of the token in the target's sampled distribution, in [0, 1]. gumbel: its noise.
inline double win_chance(double probability, double gumbel) {
  if (probability <= 0) return 0;
  return std::exp(-(1 - probability) / probability * std::exp(-gumbel));
}

}  // namespace slipstream
