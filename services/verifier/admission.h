// Decides how long a sequence may be at this verifier, and whether this verifier could ever serve a
// Start. Whether it has a free slot now is decided by the actor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "services/verifier/events.h"

namespace slipstream {

// The context that the verifier offers, in tokens: at most context_max, and so many that a sequence
// which is alone in the cache fits with the largest tree behind it. 0: the cache has room for no
// more than such a tree.
int32_t context_that_fits(int32_t context_max, int32_t cache_blocks);

// How many sequences to take if nobody says it: as many as the device's steps serve well, where the
// cache has room for kSequenceTokens of each; kCpuSequences whatever the cache holds. More would
// wait here for blocks rather than in the routers' queues, where the wait is foreseen.
inline constexpr int32_t kSequenceTokens = 256;
int32_t sequences_that_fit(int32_t of_device, int32_t cache_blocks);

struct NotAdmitted {
  std::string reason;  // a sentence, for the client
  bool retry = false;  // the Start may be accepted here later, or by another verifier now
};
// Empty: this verifier could serve the Start.
std::optional<NotAdmitted> why_not(const Start& start, const VerifierConfig& config);

}  // namespace slipstream
