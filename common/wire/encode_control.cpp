#include "common/wire/flat.h"
#include "common/wire/parts.h"
#include "common/wire/schema/control.capnp.h"
#include "common/wire/text.h"

namespace slipstream::wire {
namespace {

using Top = schema::Control::Builder;
// The overloads below would hide those of parts.h.
using wire::write;

void write(Top top, const Hello& hello) {
  auto to = top.initHello();
  write(to.initVersions(), hello.versions);
  to.setIncarnation(hello.incarnation);
  to.setRole(as<schema::Role>(hello.role));
  write(to.initFingerprint(), hello.fingerprint);
  to.setNumericsId(hello.numerics_id);
  auto methods = to.initMethods(static_cast<unsigned>(hello.methods.size()));
  for (unsigned at = 0; at < methods.size(); ++at) methods.set(at, hello.methods[at]);
  to.setContextMax(hello.context_max);
  to.setSequencesMax(hello.sequences_max);
  to.setDraftEndpoint(hello.draft_endpoint);
  to.setMetricsEndpoint(hello.metrics_endpoint);
  to.setPid(hello.pid);
  to.setDraftModel(fit(hello.draft_model));  // a folder's name may be no UTF-8
  to.setScoresPrompts(hello.scores_prompts);
  to.setSamplesTrees(hello.samples_trees);
  to.setRowsVary(hello.rows_vary);
}

void write(Top top, const WorkerHeartbeat& heartbeat) {
  auto to = top.initWorkerHeartbeat();
  to.setSteps(heartbeat.steps);
  to.setSequences(heartbeat.sequences);
  to.setWaiting(heartbeat.waiting);
  to.setBusy(heartbeat.busy);
  auto gains = to.initDrafterGains(static_cast<unsigned>(heartbeat.drafter_gains.size()));
  for (unsigned at = 0; at < gains.size(); ++at) {
    gains[at].setDrafter(heartbeat.drafter_gains[at].drafter);
    gains[at].setGreedy(heartbeat.drafter_gains[at].greedy);
    gains[at].setTokens(heartbeat.drafter_gains[at].tokens);
  }
}

void write(Top top, const Leaving& leaving) {
  auto to = top.initLeaving();
  to.setReason(fit(leaving.reason));
}

void write(Top top, const Welcome& welcome) {
  auto to = top.initWelcome();
  to.setRouter(welcome.router);
  to.setHeartbeatMs(welcome.heartbeat_ms);
  to.setVersion(welcome.version);
}

void write(Top top, const Refuse& refuse) { top.initRefuse().setReason(fit(refuse.reason)); }
void write(Top top, const RouterHeartbeat& heartbeat) { top.initRouterHeartbeat().setRouter(heartbeat.router); }
void write(Top top, const Drain& drain) { top.initDrain().setReason(fit(drain.reason)); }
void write(Top, const Unknown&) { CHECK(false, "nobody sends an Unknown"); }

}  // namespace

Bytes encode(const ControlMessage& message) {
  return encode_checked<schema::Control>(message, [&](Top top) { std::visit([&](const auto& m) { write(top, m); }, message); });
}

}  // namespace slipstream::wire
