// Sends the output of a sequence to its router: what the send window lets through (send_window.h).
// Pure; part of the verifier's actor.
#pragma once

#include <vector>

#include "services/verifier/events.h"
#include "services/verifier/sequence.h"

namespace slipstream {

// Sends what the router does not have yet: logprobs of the prompt, in messages of at most
// kPromptTokensSentMax, then tokens, in messages of at most kTokensPerMessageMax. The last of them
// carries the finish.
void deliver(VerifierSequence& sequence, Time now, std::vector<VerifierEffect>& effects);

// The router has all before index `next`. Logprobs and trees that it has are dropped.
// REQUIRES: next is in [window.acked(), sendable()].
void acknowledge(VerifierSequence& sequence, int32_t next, Time now);

// A view of the sequence's ledger of draft nodes (fates.h), as the router reports it to clients.
SpeculationReport report_of(const VerifierSequence& sequence);

}  // namespace slipstream
