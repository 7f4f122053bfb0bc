// How long a sequence this verifier takes, and whether a Start makes sense for this verifier at
// all; whether there is a slot for it now is the actor's question.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "services/verifier/events.h"

namespace slipstream {

// The context to offer, of context_max tokens that are wanted: one sequence, alone in the cache,
// must reach its end there, and the tree of its last step beside it. 0: not even a tree fits.
int32_t context_that_fits(int32_t context_max, int32_t cache_blocks);

struct NotAdmitted {
  std::string reason;  // a sentence, for the client
  bool retry = false;  // here later, or elsewhere now
};
std::optional<NotAdmitted> why_not(const Start& start, const VerifierConfig& config);

}  // namespace slipstream
