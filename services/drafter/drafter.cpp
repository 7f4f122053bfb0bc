#include "services/drafter/drafter.h"

#include <utility>

#include "common/actor/sender.h"
#include "services/drafter/drafter_state.h"

namespace slipstream {
namespace {

Hello self(const DrafterConfig& config) {
  return {.versions = {},
          .role = Role::drafter,
          .incarnation = config.incarnation,
          .fingerprint = config.fingerprint,
          .numerics_id = {},
          .methods = {config.method},
          .sequences_max = kSequencesPerDrafterMax,
          .draft_endpoint = config.draft_endpoint,
          .metrics_endpoint = config.metrics_endpoint,
          .pid = config.pid,
          .draft_model = config.draft_model};
}

}  // namespace

Drafter::State::State(DrafterConfig given) : config(std::move(given)), membership(self(config), config.routers) {}

void Drafter::State::take(Woke, Time, Effects& effects) {
  alarm.reset();
  if (!std::exchange(born, true)) membership.connect(effects);
}

void Drafter::State::take(PeerUp event, Time now, Effects&) {
  if (membership.owns(event.peer)) membership.up(event.peer, now);
}

void Drafter::State::take(PeerDown event, Time, Effects& effects) {
  if (membership.owns(event.peer)) return membership.down(event.peer, effects);
  free(sequences.of(event.peer));  // it stays attached: the same life may come back, and a Resync fills it in again
}

void Drafter::State::take(const From<Welcome>& event, Time now, Effects& effects) { membership.take(event, now, effects); }

void Drafter::State::take(const From<Refuse>& event, Time, Effects& effects) {
  if (!membership.owns(event.peer)) return;
  ++counters.router_refusals;
  membership.take(event, effects);
}

void Drafter::State::take(const From<Drain>& event, Time, Effects& effects) {
  if (std::exchange(leaving, true)) return;
  membership.leave(event.message.reason, effects);
  free(sequences.all());
}

WorkerHeartbeat Drafter::State::load(Time now) {
  const Time period = now - load_since;
  const float share = period > Time{} ? static_cast<float>(busy.count()) / static_cast<float>(period.count()) : 0.0F;
  return {.sequences = static_cast<uint32_t>(sequences.size()),
          .waiting = 0,
          .steps = counters.jobs,
          .busy = std::min(share, 1.0F)};
}

void Drafter::State::keep_time(Time now, Effects& effects) {
  if (const auto due = membership.next(); due && *due <= now) {
    membership.keep(now, load(now), effects);
    load_since = now;
    busy = {};
  }
  if (now < next_sweep) return;
  next_sweep = now + kLeaseSweepInterval;
  if (now >= config.sequence_lease) free(sequences.silent_since(now - config.sequence_lease));
}

void Drafter::State::set_alarm(Effects& effects) {
  const Time next = std::min(membership.next().value_or(next_sweep), next_sweep);
  if (alarm == next) return;
  alarm = next;
  effects.push_back(WakeAt{next});
}

void Drafter::State::count() {
  counters.live = sequences.size();
  counters.tokens_held = static_cast<uint64_t>(sequences.tokens());
  counters.verifiers = verifiers.attached();
  counters.welcome = membership.welcome();
  counters.stopping = leaving;
}

Drafter::Drafter(DrafterConfig config) : state_(std::make_unique<State>(std::move(config))) {}
Drafter::~Drafter() = default;

void Drafter::on(Event event, Time now, std::vector<Effect>& effects) {
  const auto sender = sender_of(event);
  if (sender && sender->boundary != Boundary::draft && !state_->is_router(sender->peer)) {
    event = Malformed{sender->peer, "a message that only a router sends"};
  }
  std::visit([&](auto&& e) { state_->take(std::move(e), now, effects); }, std::move(event));
  state_->keep_time(now, effects);
  if (auto plan = state_->queue.start(now)) effects.push_back(Run<DraftPlan>{*std::move(plan)});
  state_->set_alarm(effects);
  state_->count();
}

const DrafterCounters& Drafter::counters() const { return state_->counters; }

}  // namespace slipstream
