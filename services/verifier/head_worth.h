// What asks of the target's draft head won lately: of all sequences together, or of one. Means over
// the latest asks. Plain data.
#pragma once

#include <algorithm>

#include "services/verifier/nodes_won.h"

namespace slipstream {

struct HeadWorth {
  int asks = 0;       // whose result is known, up to as many as the means remember
  int sequences = 0;  // of all: that were ever asked for
  NodesWon nodes;     // that nobody else had guessed
  double open = 0;    // how open the rounds were in which it was asked (resident_head.h)
  int unasked = 0;    // steps since it was asked

  // Counts one more ask. remembered: asks that the means remember; until there are as many, all
  // weigh the same.
  void won(const NodesWon& ask, double how_open, int remembered) {
    asks = std::min(asks + 1, remembered);
    nodes.add(ask, asks);
    open += (how_open - open) / asks;
  }
};

}  // namespace slipstream
