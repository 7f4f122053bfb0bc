#include "services/verifier/verifier.h"

#include <algorithm>
#include <utility>

#include "common/actor/sender.h"
#include "services/verifier/verifier_state.h"

namespace slipstream {
namespace {

constexpr uint64_t kFirstDrafterPeer = 1000;  // routers are peers 1, 2, ...

Hello self(const VerifierConfig& config) {
  Hello hello = hello_of(Role::verifier, config.process, config.fingerprint);
  hello.numerics_id = config.numerics_id;
  hello.context_max = config.context_max;
  hello.sequences_max = kSequencesPerVerifierMax;
  return hello;
}

}  // namespace

Verifier::State::State(VerifierConfig given)
    : config(std::move(given)),
      cache(config.cache_blocks, [this](const CachedSequence& needy) { return victim_for(needy); }),
      worker(self(config), config.process.routers),
      drafting(config, counters, kFirstDrafterPeer),
      wait_budget(config.wait_share),
      cost(config.cost) {}

// Routers speak control and generate, drafters draft, each over its own links.
bool Verifier::State::admits(const Event& event) const {
  const auto sender = sender_of(event);
  if (!sender || sender->peer == Peer{}) return true;
  return sender->boundary == Boundary::draft ? drafting.owns(sender->peer) : worker.is_router(sender->peer);
}

void Verifier::State::take(const PeerUp& event, Time now, Effects& effects) {
  worker.take(event, now, effects);
  if (drafting.owns(event.peer)) drafting.up(event.peer, now, effects);
}

void Verifier::State::take(const PeerDown& event, Time now, Effects& effects) {
  worker.take(event, now, effects);  // the router's sequences live until their lease ends: it may come back
  drafting.down(event.peer, effects);
}

void Verifier::State::take(const Malformed& event, Time, Effects& effects) {
  ++counters.malformed;
  drafting.strike(event.peer, effects);
}

void Verifier::State::take(const From<RouterHeartbeat>& event, Time now, Effects& effects) {
  worker.take(event, now, effects);
  for (const auto& sequence : sequences) {
    const bool its_own = sequence->router == event.peer && sequence->id.router == event.message.router;
    if (its_own) sequence->lease_ends = now + sequence->lease;
  }
}

void Verifier::State::take(const From<Unknown>&, Time, Effects&) { ++counters.unknown_tags; }

void Verifier::State::take(const From<Attached>& event, Time now, Effects& effects) {
  drafting.attached(event, sequences, now, effects);
}

void Verifier::State::take(From<Tree> event, Time now, Effects& effects) {
  VerifierSequence* sequence = find(event.message.fence.sequence, event.message.fence.epoch);
  drafting.tree(std::move(event), sequence, now, effects);
}

void Verifier::State::take(const From<Resync>& event, Time, Effects& effects) {
  drafting.resync(event.peer, event.message, find(event.message.sequence, event.message.epoch), effects);
}

// Sends again what was not acked, ends what nobody renews, says what the routers wait for.
void Verifier::State::keep_time(Time now, Effects& effects) {
  std::erase_if(sequences, [&](const auto& sequence) {
    if (now < sequence->lease_ends || sequence->in_step) return false;
    ++counters.leases_expired;
    drafting.release(*sequence, effects);
    return true;
  });
  for (const auto& sequence : sequences) {
    const auto resend_at = sequence->window.resend_at(sequence->to_send());
    if (!resend_at || now < *resend_at) continue;
    sequence->window.again();
    deliver(*sequence, now, effects);
  }
  const WorkerLoad load{.sequences = static_cast<uint32_t>(std::max<size_t>(counters.live, slices.size())),
                        .waiting = static_cast<uint32_t>(counters.waiting),
                        .steps = counters.steps};
  worker.send_heartbeats(now, load, effects);
  drafting.keep(now, effects);
}

void Verifier::State::set_alarm(Time now, Effects& effects) {
  std::optional<Time> next;
  const auto at = [&](Time time) { next = std::min(next.value_or(time), time); };
  if (const auto ask = drafting.next()) at(*ask);
  for (const auto& sequence : sequences) {
    if (!sequence->in_step) at(sequence->lease_ends);
    if (const auto resend_at = sequence->window.resend_at(sequence->to_send())) at(*resend_at);
    if (!computing && sequence->running() && waits_for_draft(*sequence, now)) at(sequence->draft.deadline);
  }
  if (!computing && waits_since) at(*waits_since + wait_budget.credit());
  worker.set_alarm(next, effects);
}

void Verifier::State::count() {
  counters.live = sequences.size();
  counters.waiting = static_cast<uint64_t>(std::ranges::count_if(
      sequences, [](const auto& sequence) { return sequence->running() && !sequence->context.holds_blocks(); }));
  counters.blocks_free = static_cast<uint64_t>(cache.blocks_free());
  counters.blocks_kept = static_cast<uint64_t>(cache.blocks_kept());
  counters.prefixes_evicted = cache.prefixes_evicted();
  counters.preempted = cache.sequences_evicted();
  counters.held = 0;
  for (const auto& sequence : sequences) counters.held += sequence->report.held;
  for (const BatchSlice& slice : slices) {
    if (find(slice) == nullptr) counters.held += static_cast<uint64_t>(slice.tree.size());
  }
  counters.worker = worker.counters();
  counters.attaches_waiting = drafting.unanswered();
  counters.step_cost = cost.times();
  counters.step_overhead = cost.overhead_seconds();
  counters.attention_cost = cost.attention();
}

Verifier::Verifier(VerifierConfig config) : state_(std::make_unique<State>(std::move(config))) {}
Verifier::~Verifier() = default;

void Verifier::on(Event event, Time now, std::vector<Effect>& effects) {
  if (state_->admits(event)) {
    std::visit([&](auto&& heard) { state_->take(std::forward<decltype(heard)>(heard), now, effects); }, std::move(event));
  } else {
    state_->take(Malformed{sender_of(event)->peer, "a message that is another role's to send"}, now, effects);
  }
  state_->keep_time(now, effects);
  state_->start_step(now, effects);
  state_->set_alarm(now, effects);
  state_->count();
}

const VerifierCounters& Verifier::counters() const { return state_->counters; }

}  // namespace slipstream
