// What a step's choices make of a sequence: tokens emitted, cache committed, fates told. Pure.
#pragma once

#include <span>
#include <vector>

#include "common/speculation/walk.h"
#include "services/verifier/counters.h"
#include "services/verifier/gather.h"

namespace slipstream {

struct Settled {
  int emitted = 0;            // tokens appended
  int accepted_nodes = 0;     // of those, drafted
  std::vector<int32_t> path;  // [accepted_nodes] their rows of the slice, whose first is the root's
};

// walked: what is accepted of slice.tree, and the token behind it. A token of -1 (a row that was
// not finite, or masked whole) ends the sequence with Finish::error.
Settled settle(VerifierSequence& sequence, const BatchSlice& slice, const Walk& walked, VerifierCounters& counters);

// Of a sequence that ended so: are its own masks why, or the model? vocabulary: rows of the logits.
void explain_no_token(VerifierSequence& sequence, int32_t vocabulary, VerifierCounters& counters);

// Keeps the logprobs of what settle() emitted. logprobs: [slice.tree.size() + 1] of the tokens
// chosen.
void keep_logprobs(VerifierSequence& sequence, const Settled& settled, std::span<const TokenLogprob> logprobs);

}  // namespace slipstream
