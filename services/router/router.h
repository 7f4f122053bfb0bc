// The router's actor: keeps prompt and emitted ids of every live request, assigns them to verifiers, delivers each token once.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/actor/actor.h"
#include "common/messages/control.h"
#include "common/messages/generate.h"
#include "services/router/counters.h"

namespace slipstream {

using RequestId = uint64_t;

// From the HTTP thread. Limits that need no worker (types, ranges, body size) were checked there.
struct Submit {
  RequestId request = 0;
  std::vector<TokenId> prompt;
  SamplingParams sampling;
  uint64_t seed = 0;        // drawn by the HTTP side if the client gave none
  int32_t output_max = 0;   // 0: what the context leaves
  std::vector<TokenId> stop_ids;
  bool speculate = true;
};
struct Abandon {  // the client went, or a stop string was met: cancel, deliver nothing more
  RequestId request = 0;
};

// To the HTTP thread.
struct Delivery {
  RequestId request = 0;
  std::vector<TokenId> ids;
  std::vector<uint8_t> drafted;
  Finish finish = Finish::none;
  SpeculationReport report;
};
struct Failure {
  RequestId request = 0;
  int status = 500;           // before the first token; after it, an error event ends the stream
  std::string code;           // OpenAI's `code`: "queue_full", "context_length_exceeded", ...
  std::string message;
  int retry_after_s = 0;      // 0: no Retry-After
};

class Router {
 public:
  using Event = std::variant<Woke, PeerUp, PeerDown, Malformed, Submit, Abandon, From<Hello>, From<WorkerHeartbeat>, From<Leaving>,
                             From<Accepted>, From<Refused>, From<Tokens>, From<Unknown>>;
  using Effect = std::variant<WakeAt, Disconnect, To<Welcome>, To<Refuse>, To<RouterHeartbeat>, To<Drain>, To<Start>, To<Ack>,
                              To<Cancel>, Delivery, Failure>;
  // on(), counters(): see Verifier.
};

}  // namespace slipstream
