// What a drafter hears and does, and what it was told at birth.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "common/actor/actor.h"
#include "common/messages/control.h"
#include "common/messages/draft.h"
#include "common/worker/worker.h"
#include "services/drafter/draft_job.h"

namespace slipstream {

inline constexpr Time kSequenceLease = std::chrono::seconds(60);  // without an Advance; then it is freed

struct DrafterConfig {
  WorkerProcess process;
  Fingerprint fingerprint;
  std::string method;
  std::string draft_model = {};  // its name, told to routers; empty: the method has no model
  std::string draft_endpoint;    // as bound or advertised: verifiers learn it from the router
  Time sequence_lease = kSequenceLease;
};

using DrafterEvent =
    std::variant<Woke, PeerUp, PeerDown, Malformed, From<Welcome>, From<Refuse>, From<RouterHeartbeat>, From<Drain>,
                 From<Attach>, From<Advance>, From<Release>, From<Unknown>, Ran<DraftPlan, Drafts>>;
using DrafterEffect = std::variant<Connect, Disconnect, WakeAt, Run<DraftPlan>, To<Hello>, To<WorkerHeartbeat>, To<Leaving>,
                                   To<Attached>, To<Tree>, To<Resync>, Note>;

}  // namespace slipstream
