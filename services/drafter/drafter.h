// The drafter's actor: learns all it knows of a sequence from its verifier, answers each Advance that asks for one with a Tree, and
// keeps no policy of its own. It tracks fences (who holds how many tokens of what); the method's state lives with the compute job.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "common/actor/actor.h"
#include "common/messages/control.h"
#include "common/messages/draft.h"
#include "services/drafter/counters.h"
#include "services/drafter/draft_job.h"

namespace slipstream {

struct DrafterConfig {
  Incarnation incarnation = 0;
  Fingerprint fingerprint;
  std::string method;
  Needs needs;
  std::string draft_endpoint;        // as bound: verifiers learn it from the router
  std::string metrics_endpoint;
  std::vector<std::string> routers;  // endpoints, connected to at the first event
};

class Drafter {
 public:
  using Event = std::variant<Woke, PeerUp, PeerDown, Malformed, From<Welcome>, From<Refuse>, From<RouterHeartbeat>, From<Drain>,
                             From<Attach>, From<Advance>, From<Features>, From<Release>, From<Unknown>, Ran<DraftPlan, Drafts>>;
  using Effect = std::variant<Connect, Disconnect, WakeAt, Run<DraftPlan>, To<Hello>, To<WorkerHeartbeat>, To<Leaving>, To<Attached>,
                              To<Tree>, To<Resync>>;
  // on(), counters(): see Verifier.
};

}  // namespace slipstream
