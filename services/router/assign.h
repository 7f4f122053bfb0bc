// Who works on a request: which verifier, and which drafters guess for it. Pure choices over what workers said.
#pragma once

#include <optional>
#include <vector>

#include "common/messages/generate.h"
#include "services/router/live_request.h"
#include "services/router/workers.h"

namespace slipstream {

// Could it ever: takes work, enough context, and the same bits if tokens are out already.
bool can_serve(const Worker& worker, const LiveRequest& request);

// Among those that can and have room: one that did not just refuse, then fewest live sequences of ours, then of everybody's,
// then the lowest peer.
std::optional<Peer> pick_verifier(const Workers& workers, const LiveRequest& request);

// Drafters that take work, at most kDraftersPerSequenceMax; first those with the fewest live sequences of ours, then `now`,
// then fewest of everybody's, then the lowest peer.
std::vector<Peer> pick_drafters(const Workers& workers, Peer now);

}  // namespace slipstream
