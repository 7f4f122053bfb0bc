// Who works on a request: which verifier, and which drafters guess for it. Pure choices over what
// workers said.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "common/messages/generate.h"
#include "services/router/live_request.h"
#include "services/router/prefix_memory.h"
#include "services/router/workers.h"

namespace slipstream {

// A prefix shorter than this is computed anew in less time than it takes to be clever about it.
inline constexpr int32_t kAffinityTokensMin = 64;
// With the request, the verifier that has its prefix may hold so many sequences more than the least
// loaded one would without.
inline constexpr int32_t kAffinitySlackSequences = 2;

// Could it ever: takes work, enough context, and the same bits if tokens are out already.
bool can_serve(const Worker& worker, const LiveRequest& request);

struct Placement {
  enum class Why : uint8_t { load, affinity, rebalance };
  Peer verifier;
  Why why = Why::load;
};

// Among those that can and have room: one that did not just refuse; then the one that has most of
// the prompt's prefix, if it is no busier than the slack allows; then the least loaded; then the
// lowest peer.
std::optional<Placement> pick_verifier(const Workers& workers, const PrefixMemory& memory, const LiveRequest& request);

// Drafters that take work and that `fits` admits, at most kDraftersPerSequenceMax; first those with
// the fewest live sequences of ours, then `now`, then fewest of everybody's, then the lowest peer.
using DrafterFits = std::function<bool(Peer, const Worker&)>;
std::vector<Peer> pick_drafters(const Workers& workers, Peer now, const DrafterFits& fits);

}  // namespace slipstream
