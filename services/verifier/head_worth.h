// What asks of the target's draft head won lately: of all sequences together, or of one. Means over
// the latest asks. Plain data.
#pragma once

#include <algorithm>

namespace slipstream {

struct HeadWorth {
  int asks = 0;         // whose result is known, up to as many as the means remember
  double verified = 0;  // nodes an ask that nobody else had guessed
  double accepted = 0;  // of these
  double open = 0;      // how open the rounds were in which it was asked (resident_head.h)
  int unasked = 0;      // steps since it was asked

  // Counts one more ask. remembered: asks that the means remember; until there are as many, all
  // weigh the same.
  void won(int nodes_verified, int nodes_accepted, double how_open, int remembered) {
    asks = std::min(asks + 1, remembered);
    const double weight = 1.0 / asks;
    verified += (nodes_verified - verified) * weight;
    accepted += (nodes_accepted - accepted) * weight;
    open += (how_open - open) * weight;
  }
};

}  // namespace slipstream
