#include "services/drafter/drafter.h"

#include <utility>

#include "common/actor/sender.h"
#include "common/base/sequence_name.h"
#include "services/drafter/drafter_state.h"

namespace slipstream {
namespace {

Hello self(const DrafterConfig& config) {
  Hello hello = hello_of(Role::drafter, config.process, config.fingerprint);
  hello.methods = {config.method};
  hello.sequences_max = kSequencesPerDrafterMax;
  hello.draft_endpoint = config.draft_endpoint;
  hello.draft_model = config.draft_model;
  return hello;
}

}  // namespace

Drafter::State::State(DrafterConfig given)
    : config(std::move(given)),
      counters{.method = config.method, .model = config.draft_model},
      worker(self(config), config.process.routers) {}

void Drafter::State::on(const PeerDown& event, Time now, Effects& effects) {
  worker.on(event, now, effects);
  if (worker.is_router(event.peer)) return;
  // The verifier stays attached: the same process may come back, and a Resync fills its sequences
  // in again. They are freed now because it may also never come back.
  if (VerifierPeer* lost = verifiers.find(event.peer)) lost->linked = false;
  free(sequences.of_verifier(event.peer));
}

void Drafter::State::on(const From<Drain>& event, Time now, Effects& effects) {
  worker.on(event, now, effects);
  free(sequences.all());
}

void Drafter::State::keep_time(Time now, Effects& effects) {
  worker.send_heartbeats(now, {.sequences = static_cast<uint32_t>(sequences.size()), .steps = counters.jobs}, effects);
  if (now < next_sweep) return;
  next_sweep = now + kLeaseSweepInterval;
  // Time begins at 0: before one lease has passed, no sequence can be older than a lease.
  if (now >= config.sequence_lease) free(sequences.silent_since(now - config.sequence_lease));
}

void Drafter::State::tell_traces(Time now, Effects& effects) {
  for (const auto& [key, held] : std::exchange(ended, {})) {
    effects.push_back(Span{.trace = held.trace,
                           .id = span_id("draft", held.trace, key.sequence, held.epoch),
                           .name = "draft",
                           .serves = true,
                           .begin = held.began,
                           .end = now,
                           .attributes = {{"slipstream.sequence", sequence_name(key.sequence)},
                                          {"slipstream.draft.method", config.method},
                                          {"slipstream.draft.model", config.draft_model},
                                          {"slipstream.draft.trees", held.trees},
                                          {"slipstream.draft.sent_nodes", held.nodes}}});
  }
}

void Drafter::State::count() {
  counters.live = sequences.size();
  counters.tokens_held = static_cast<uint64_t>(sequences.tokens());
  counters.verifiers = verifiers.attached();
  counters.worker = worker.counters();
}

Drafter::Drafter(DrafterConfig config) : state_(std::make_unique<State>(std::move(config))) {}
Drafter::~Drafter() = default;

// Work is started after the event, so that one job takes all operations and asks that came with it.
void Drafter::on(Event event, Time now, std::vector<Effect>& effects) {
  const auto sender = sender_of(event);
  // Verifiers connect to the same socket and may send anything: a Drain of theirs must not stop us.
  if (sender && sender->boundary != Boundary::draft && !state_->worker.takes_orders_of(sender->peer)) {
    event = Malformed{sender->peer, "a message that only a router sends"};
  }
  std::visit([&](auto&& e) { state_->on(std::move(e), now, effects); }, std::move(event));
  state_->keep_time(now, effects);
  state_->tell_traces(now, effects);
  if (auto plan = state_->queue.start(now)) effects.push_back(Run<DraftPlan>{*std::move(plan)});
  state_->worker.set_alarm(state_->next_sweep, effects);
  state_->count();
}

const DrafterCounters& Drafter::counters() const { return state_->counters; }

}  // namespace slipstream
