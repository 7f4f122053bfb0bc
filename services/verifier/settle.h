// What a step's choices make of a sequence: tokens emitted, cache committed, fates told. Pure.
#pragma once

#include <span>

#include "common/speculation/walk.h"
#include "services/verifier/counters.h"
#include "services/verifier/gather.h"

namespace slipstream {

struct Settled {
  int emitted = 0;         // tokens appended
  int accepted_nodes = 0;  // of those, drafted
};

// chosen: [lane.tree.size() + 1] the target's token after each row of the lane. A non-finite row on the accepted path ends the
// sequence with Finish::error; elsewhere it does no harm.
Settled settle(VerifierSequence& sequence, const Lane& lane, std::span<const TokenId> chosen, VerifierCounters& counters);

}  // namespace slipstream
