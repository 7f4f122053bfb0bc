#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/limits.h"
#include "common/messages/common.h"

namespace slipstream {

struct RouterConfig {
  Incarnation incarnation = 0;
  Fingerprint fingerprint;  // of the model folder; weights 0: the router reads none, its verifiers must agree among themselves
  int32_t context_max = kContextTokensMax;  // of the model's config; a verifier may offer less
  Tuning tuning;                            // the default of every Start
  bool trust_local = false;                 // the probabilities of drafters that came without a key
  std::vector<std::string> trusted;         // and of those with these keys

  uint32_t tick_ms = 50;                // how often deadlines are looked at while a request waits
  uint32_t heartbeat_ms = 200;          // to every worker, and asked of every worker
  uint32_t worker_silent_ms = 2000;     // a worker that said nothing for so long gets nothing new, and its work is replayed
  uint32_t worker_forget_ms = 60'000;   // and is forgotten after so long
  uint32_t lease_ms = 10'000;           // of a sequence, without our heartbeat
  uint32_t verifier_stuck_ms = 20'000;  // heard, but with sequences and no step ended for so long: its work is replayed, too
  uint32_t start_repeat_ms = 300;       // until Accepted or Refused; doubling
  uint32_t start_repeat_most_ms = 1200;
  uint32_t start_give_up_ms = 5000;  // then the verifier counts as having refused
  uint32_t refused_retry_ms = 200;   // pause after a Refused that allows another try; doubling
  uint32_t refused_retry_most_ms = 3200;
  uint32_t ack_repeat_ms = 100;      // at most so often for tokens that are here already, or come after a gap
  uint32_t assign_repeat_ms = 1000;  // nobody answers an Assign: the newest is said again, should it be lost
  uint32_t quiet_ms = 2000;          // of a sequence without news its verifier is asked whether it has it (Ack); doubling
  uint32_t quiet_most_ms = 16'000;
  uint32_t no_token_ms = 600'000;      // a request that runs and gets no token for so long fails
  uint32_t verifier_wait_ms = 10'000;  // while no verifier is there
  uint32_t queue_wait_ms = 120'000;    // while verifiers are there, but busy
  uint32_t rebalance_ms = 1000;  // a verifier must have much less to do for so long before it is given others' work; 0: never
  uint32_t rebalance_interval_ms = 500;  // and then one sequence each
  int32_t waiting_max = kRequestsWaitingMax;
};

}  // namespace slipstream
