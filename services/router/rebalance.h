// Decides when a live request moves to a verifier that has much less to do than its own, for
// example to one that has just joined. The gap must have lasted for rebalance_ms, moves are made
// one at a time, and a request never moves back to the verifier that it left last. Pure: the caller
// moves the request as in a failover, so no token is lost.
#pragma once

#include <map>
#include <optional>

#include "services/router/live_request.h"
#include "services/router/placement.h"
#include "services/router/router_config.h"
#include "services/router/workers.h"

namespace slipstream {

// A request moves only if its verifier has at least this many sequences more than it would have at
// the other's load per capacity (at equal capacities: more than the other has). Larger than the
// affinity slack, or the two rules would undo each other.
inline constexpr int32_t kRebalanceGapSequences = 3;
static_assert(kRebalanceGapSequences > kAffinitySlackSequences, "or what affinity brings together is torn apart");
// A move recomputes the prompt and the output so far. These must be fewer than this many tokens for
// each token still expected: recomputing is cheaper, since many tokens share a forward pass.
inline constexpr int64_t kReplayTokensPerTokenLeft = 4;
// How many tokens are still expected of a request is a guess: as many as it has emitted, but at
// least this many, and at most what it may still emit.
inline constexpr int32_t kLikelyLeftTokens = 64;
inline constexpr Time kMoveRest = std::chrono::seconds(10);  // between two moves of one request

class Rebalance {
 public:
  explicit Rebalance(const RouterConfig& config) : config_(config) {}

  struct Move {
    RequestId request = 0;
    Peer to;
  };
  // A move that is due now. Call it until it returns none. At least rebalance_interval_ms pass
  // between two moves to one verifier.
  std::optional<Move> next(const Workers& workers, const std::map<RequestId, LiveRequest>& requests, Time now);
  void forget(Peer verifier) { idle_since_.erase(verifier); }  // the verifier is gone

 private:
  bool receives(const KnownWorker& to, Time now) const;

  const RouterConfig& config_;
  std::map<Peer, Time> idle_since_;  // since when each verifier has had much less to do than another
};

}  // namespace slipstream
