// Chooses the verifier that a waiting request starts at. Whether a request that runs moves to
// another verifier is the choice of rebalance.h; who drafts for it, that of drafter_choice.h. Pure.
#pragma once

#include <optional>

#include "services/router/live_request.h"
#include "services/router/prefix_memory.h"
#include "services/router/workers.h"

namespace slipstream {

// A prefix shorter than this is cheap to prefill again, so the placement goes by load alone.
inline constexpr int32_t kAffinityTokensMin = 64;
// With the request, the verifier that has its prefix may hold this many sequences more than the
// least loaded one would without it.
inline constexpr int32_t kAffinitySlackSequences = 2;

// Whether the verifier could ever take the request: it takes work, its context is large enough, and
// it computes the same bits if tokens are out already.
bool can_serve(const KnownWorker& worker, const LiveRequest& request);

struct Placement {
  enum class Why : uint8_t { load, affinity, rebalance };
  Peer verifier;
  Why why = Why::load;
};

// Chooses among the verifiers that can serve the request and have room, in this order:
//   1. one that was not the last to refuse it;
//   2. the one that has most of the prompt's prefix, if its load is within the slack;
//   3. the least loaded;
//   4. the lowest peer.
// Nullopt: there is none.
std::optional<Placement> pick_verifier(const Workers& workers, const PrefixMemory& memory, const LiveRequest& request);

}  // namespace slipstream
