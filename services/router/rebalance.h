// When a live request is to go on at a verifier that has much less to do than its own (one that
// joined late, say). Slow to begin, one at a time, and never back and forth. Pure: the caller moves
// it, by the way of a failover, so that no token is lost.
#pragma once

#include <map>
#include <optional>

#include "services/router/live_request.h"
#include "services/router/placement.h"
#include "services/router/router_config.h"
#include "services/router/workers.h"

namespace slipstream {

// Sequences that the busier one must have more (of its capacity, where theirs differ). More than
// affinity may make of it.
inline constexpr int32_t kRebalanceGapSequences = 3;
static_assert(kRebalanceGapSequences > kAffinitySlackSequences, "or what affinity brings together is torn apart");
// A move recomputes prompt and output so far; so many tokens recomputed (in chunks, side by side)
// must pay with one that is likely left.
inline constexpr int64_t kReplayTokensPerTokenLeft = 4;
inline constexpr int32_t kLikelyLeftTokens = 64;  // nobody knows: as many again as are out, at least these, if it may
inline constexpr Time kMoveRest = std::chrono::seconds(10);  // of a request that was moved

class Rebalance {
 public:
  explicit Rebalance(const RouterConfig& config) : config_(config) {}

  struct Move {
    RequestId request = 0;
    Peer to;
  };
  // A move that is due now; call until there is none. Between two moves to one verifier
  // rebalance_interval_ms pass.
  std::optional<Move> next(const Workers& workers, const std::map<RequestId, LiveRequest>& requests, Time now);
  void forget(Peer verifier) { idle_since_.erase(verifier); }  // it is gone

 private:
  bool receives(const Worker& to, Time now) const;

  const RouterConfig& config_;
  std::map<Peer, Time> idle_since_;  // of each verifier that has much less to do than another
};

}  // namespace slipstream
