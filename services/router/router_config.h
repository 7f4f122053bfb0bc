// What the router's actor is told at its start: what it serves, whom it trusts, and its times and
// limits. The times are explained in docs/design/TIMES.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/limits.h"
#include "common/messages/common.h"

namespace slipstream {

// A request is given up after this many times the wait that it was admitted for: by then the
// forecast was wrong, or others went before it.
inline constexpr uint32_t kQueueWaitsMost = 2;

struct RouterConfig {
  Incarnation incarnation = 0;
  Fingerprint fingerprint;  // of the model folder; weights 0: the router reads none, its verifiers must agree among themselves
  int32_t context_max = kContextTokensMax;  // of the model's config; a verifier may offer less
  Tuning tuning;                            // of every drafter; bounds nodes and depth of every request's trees, too
  bool tunes = false;                       // what the drafters' thresholds are, by their metrics
  bool trust_local = false;                 // the probabilities that drafters without a key report
  std::vector<std::string> trusted;         // the names of the keys of other drafters whose probabilities it trusts

  uint32_t tick_ms = 50;                // how often deadlines are checked while a request waits
  uint32_t heartbeat_ms = 200;          // to every worker, and asked of every worker
  uint32_t worker_silent_ms = 2000;     // a worker that says nothing for this long gets no new work, and its work is replayed
  uint32_t worker_forget_ms = 60'000;   // a worker that says nothing for this long is forgotten
  uint32_t lease_ms = 10'000;           // a verifier keeps a sequence this long without a heartbeat of this router
  uint32_t verifier_stuck_ms = 20'000;  // a verifier that heartbeats, but ends no step for this long: its work is replayed
  uint32_t start_repeat_ms = 300;       // until Accepted or Refused; doubling
  uint32_t start_repeat_most_ms = 1200;
  uint32_t start_give_up_ms = 5000;  // then the verifier counts as having refused
  uint32_t refused_retry_ms = 200;   // pause after a Refused that allows another try; doubling
  uint32_t refused_retry_most_ms = 3200;
  uint32_t ack_repeat_ms = 100;      // between Acks for tokens that are here already, or that come after a gap
  uint32_t assign_repeat_ms = 1000;  // an Assign has no answer: the newest is repeated, because it may be lost
  uint32_t quiet_ms = 2000;          // without news of a sequence, an Ack asks its verifier whether it has it; doubling
  uint32_t quiet_most_ms = 16'000;
  uint32_t still_here_ms = 5000;       // a client that got nothing for this long is told that its request is alive
  uint32_t no_token_ms = 600'000;      // a request that runs and gets no token for this long fails
  uint32_t verifier_wait_ms = 10'000;  // a request waits this long while no verifier is there
  uint32_t queue_wait_ms = 5000;       // a request that is expected to wait longer is refused; 0: none is
  uint32_t begun_wait_ms = 120'000;    // one whose answer has begun waits this long for room, and with queue_wait_ms 0 any
  uint32_t rebalance_ms = 1000;        // a verifier has much less to do for this long before it is given others' work; 0: never
  uint32_t rebalance_interval_ms = 500;  // it is then given one sequence at each interval
  int32_t waiting_max = kRequestsWaitingMax;

  // A request whose answer has not begun waits no longer.
  uint32_t wait_most_ms() const { return queue_wait_ms == 0 ? begun_wait_ms : kQueueWaitsMost * queue_wait_ms; }
};

}  // namespace slipstream
