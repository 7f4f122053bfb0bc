#include "common/wire/flat.h"
#include "common/wire/parts.h"
#include "common/wire/schema/control.capnp.h"

namespace slipstream::wire {
namespace {

// The overloads below would hide those of parts.h.
using wire::read;

Result<ControlMessage> read(schema::Hello::Reader from) {
  Hello hello{.versions = read(from.getVersions()), .incarnation = from.getIncarnation()};
  TRY(hello.role, read_enum("Hello.role", from.getRole(), Role::drafter));
  TRY(hello.fingerprint, read(from.getFingerprint()));
  TRY(hello.numerics_id, read("Hello.numericsId", from.getNumericsId()));
  TRY_VOID(bounded("Hello.methods", from.getMethods().size(), kMethodsMax));
  for (auto method : from.getMethods()) {
    TRY(hello.methods.emplace_back(), read("Hello.methods", method));
  }
  hello.context_max = from.getContextMax();
  hello.sequences_max = from.getSequencesMax();
  TRY(hello.draft_endpoint, read("Hello.draftEndpoint", from.getDraftEndpoint()));
  TRY(hello.metrics_endpoint, read("Hello.metricsEndpoint", from.getMetricsEndpoint()));
  hello.pid = from.getPid();
  TRY(hello.draft_model, read("Hello.draftModel", from.getDraftModel()));
  hello.scores_prompts = from.getScoresPrompts();
  hello.samples_trees = from.getSamplesTrees();
  hello.rows_vary = from.getRowsVary();
  return hello;
}

Result<ControlMessage> read(schema::WorkerHeartbeat::Reader from) {
  WorkerHeartbeat heartbeat{
      .sequences = from.getSequences(), .waiting = from.getWaiting(), .steps = from.getSteps(), .busy = from.getBusy()};
  TRY_VOID(bounded("WorkerHeartbeat.drafterGains", from.getDrafterGains().size(), kDrafterGainsMax));
  for (const schema::DrafterGain::Reader gain : from.getDrafterGains()) {
    heartbeat.drafter_gains.push_back({.drafter = gain.getDrafter(), .greedy = gain.getGreedy(), .tokens = gain.getTokens()});
  }
  return heartbeat;
}

Result<ControlMessage> read(schema::Leaving::Reader from) {
  TRY(auto reason, read("Leaving.reason", from.getReason()));
  return Leaving{.reason = std::move(reason)};
}

Result<ControlMessage> read(schema::Welcome::Reader from) {
  return Welcome{.version = from.getVersion(), .router = from.getRouter(), .heartbeat_ms = from.getHeartbeatMs()};
}

Result<ControlMessage> read(schema::Refuse::Reader from) {
  TRY(auto reason, read("Refuse.reason", from.getReason()));
  return Refuse{.reason = std::move(reason)};
}

Result<ControlMessage> read(schema::Drain::Reader from) {
  TRY(auto reason, read("Drain.reason", from.getReason()));
  return Drain{.reason = std::move(reason)};
}

Result<ControlMessage> read(schema::Control::Reader top) {
  switch (top.which()) {
    case schema::Control::NONE:
      return fail("an empty control message");
    case schema::Control::HELLO:
      return read(top.getHello());
    case schema::Control::WORKER_HEARTBEAT:
      return read(top.getWorkerHeartbeat());
    case schema::Control::LEAVING:
      return read(top.getLeaving());
    case schema::Control::WELCOME:
      return read(top.getWelcome());
    case schema::Control::REFUSE:
      return read(top.getRefuse());
    case schema::Control::ROUTER_HEARTBEAT:
      return RouterHeartbeat{.router = top.getRouterHeartbeat().getRouter()};
    case schema::Control::DRAIN:
      return read(top.getDrain());
  }
  // A message of a newer release. It is no error, so that two releases can work together.
  return Unknown{static_cast<uint16_t>(top.which())};
}

}  // namespace

Result<ControlMessage> decode_control(std::span<const std::byte> bytes) {
  return decode_checked<schema::Control, ControlMessage>(bytes, kControlFrameBytesMax,
                                                         [](schema::Control::Reader top) { return read(top); });
}

}  // namespace slipstream::wire
