// The events, the effects and the configuration of the drafter's actor.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "common/actor/actor.h"
#include "common/actor/span.h"
#include "common/messages/control.h"
#include "common/messages/draft.h"
#include "common/worker/worker.h"
#include "services/drafter/draft_job.h"

namespace slipstream {

inline constexpr int64_t kDrafterTokensMax = 2 * 1024 * 1024;     // of all sequences together: at most 256 MB of n-gram index
inline constexpr Time kSequenceLease = std::chrono::seconds(60);  // a sequence without an Advance for this long is freed

struct DrafterConfig {
  WorkerProcess process;
  Fingerprint fingerprint;
  std::string method;
  std::string draft_model = {};  // name of the method's model, sent to routers; empty: it has none
  FeaturesRead features = {};    // that the method reads
  MethodRoom room = {.tokens = kDrafterTokensMax};
  std::string draft_endpoint;  // bound or advertised; routers tell it to verifiers
  Time sequence_lease = kSequenceLease;
};

using DrafterEvent =
    std::variant<Woke, PeerUp, PeerDown, Malformed, RoutersNamed, From<Welcome>, From<Refuse>, From<RouterHeartbeat>,
                 From<Drain>, From<Attach>, From<Advance>, From<Release>, From<Unknown>, Ran<DraftPlan, Drafts>>;
using DrafterEffect = std::variant<Connect, Disconnect, WakeAt, Run<DraftPlan>, To<Hello>, To<WorkerHeartbeat>, To<Leaving>,
                                   To<Attached>, To<Tree>, To<Resync>, Note, Span>;

}  // namespace slipstream
