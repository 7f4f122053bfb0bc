// The router's actor. It keeps the prompt and the emitted tokens of every live request, starts each
// request at a verifier, delivers each token once, and replays a request at another verifier when
// its own is lost.
//
// Reading order: live_request.h, admission.h, placement.h, requests.cpp, deadlines.cpp,
// received_tokens.h, drafter_choice.h, failover.cpp, worker_events.cpp, retune.cpp.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "common/actor/actor.h"
#include "common/actor/span.h"
#include "common/messages/control.h"
#include "common/messages/generate.h"
#include "services/router/counters.h"
#include "services/router/request.h"
#include "services/router/router_config.h"
#include "services/router/scraped.h"

namespace slipstream {

class Router {
 public:
  using Event =
      std::variant<Woke, PeerUp, PeerDown, Malformed, Submit, Abandon, SetDrained, Closing, From<Hello>, From<WorkerHeartbeat>,
                   From<Leaving>, From<Accepted>, From<Refused>, From<Tokens>, From<Unknown>, Scraped>;
  using Effect = std::variant<WakeAt, Disconnect, To<Welcome>, To<Refuse>, To<RouterHeartbeat>, To<Drain>, To<Start>,
                              To<Assign>, To<Ack>, To<Cancel>, Delivery, StillHere, Failure, Note, Span>;

  explicit Router(RouterConfig config);
  ~Router();
  void on(Event event, Time now, std::vector<Effect>& effects);
  const RouterCounters& counters() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace slipstream
