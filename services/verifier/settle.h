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

// walked: what is accepted of lane.tree, and the token behind it. A token of -1 (a row that was not finite) ends the sequence
// with Finish::error.
Settled settle(VerifierSequence& sequence, const Lane& lane, const Walk& walked, VerifierCounters& counters);

}  // namespace slipstream
