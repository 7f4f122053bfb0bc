#include "services/verifier/verifier.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "common/actor/sender.h"
#include "services/verifier/delivery.h"
#include "services/verifier/sequence_span.h"
#include "services/verifier/verifier_state.h"

namespace slipstream {
namespace {

constexpr uint64_t kFirstDrafterPeer = 1ull << 32;  // routers are peers 1, 2, ...

// nullopt: there are none.
std::optional<double> mean(const std::vector<double>& of) {
  if (of.empty()) return std::nullopt;
  return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
}

Hello self(const VerifierConfig& config) {
  Hello hello = hello_of(Role::verifier, config.process, config.fingerprint);
  hello.numerics_id = config.numerics_id;
  hello.context_max = config.context_max;
  hello.sequences_max = config.sequences_max;
  hello.scores_prompts = true;
  hello.samples_trees = !config.head.empty();
  hello.rows_vary = config.rows_vary;
  return hello;
}

}  // namespace

Verifier::State::State(VerifierConfig given, std::unique_ptr<Method> method)
    : config(std::move(given)),
      cache(config.cache_blocks, [this](const CachedSequence& needy) { return victim_for(needy); }),
      grammars(config.grammars ? std::optional<GrammarCache>(*config.grammars) : std::nullopt),
      worker(self(config), config.process.routers),
      links(config, counters, kFirstDrafterPeer),
      resident(std::move(method)),
      head(config.head),
      rounds(config, counters, links, resident, head),
      schedule(config, rounds, counters) {}

// The youngest sequence that holds blocks, if it is younger than this one and has no rows in this
// step. It will compute its tokens again when there is room, to the same bits (row invariance).
CachedSequence* Verifier::State::victim_for(const CachedSequence& needy) {
  const auto self =
      std::ranges::find_if(sequences.rbegin(), sequences.rend(), [&](const auto& other) { return &other->context == &needy; });
  const auto victim = std::find_if(sequences.rbegin(), self,
                                   [](const auto& other) { return !other->step.in_step && other->context.holds_blocks(); });
  return victim == self ? nullptr : &(*victim)->context;
}

// Routers speak control and generate, drafters draft, each over its own links.
bool Verifier::State::admits(const Event& event) const {
  const auto sender = sender_of(event);
  if (!sender || sender->peer == Peer{}) return true;
  return sender->boundary == Boundary::draft ? links.find(sender->peer) != nullptr : worker.is_router(sender->peer);
}

void Verifier::State::on(const PeerUp& event, Time now, Effects& effects) {
  worker.on(event, now, effects);
  links.up(event.peer, now, effects);
}

void Verifier::State::on(const PeerDown& event, Time now, Effects& effects) {
  worker.on(event, now, effects);  // the router's sequences live until their lease ends: it may come back
  links.down(event.peer, effects);
  count_drafters(now);
}

void Verifier::State::on(const Malformed& event, Time now, Effects& effects) {
  ++counters.malformed;
  links.strike(event.peer, now, effects);
}

void Verifier::State::on(const From<RouterHeartbeat>& event, Time now, Effects& effects) {
  worker.on(event, now, effects);
  for (const auto& sequence : sequences) {
    const SequenceIdentity& identity = sequence->identity;
    const bool its_own = identity.router == event.peer && identity.id.router == event.message.router;
    if (its_own) sequence->delivery.lease_ends = now + identity.lease;
  }
}

void Verifier::State::on(const From<Unknown>&, Time, Effects&) { ++counters.unknown_tags; }

void Verifier::State::on(const From<Attached>& event, Time now, Effects& effects) {
  const bool another_life = links.attached(event, now, effects);
  count_drafters(now);
  if (!another_life) return;
  for (const auto& sequence : sequences) Rounds::forget_drafter_state(*sequence, event.peer);
}

void Verifier::State::on(From<Tree> event, Time now, Effects& effects) {
  VerifierSequence* sequence = find(event.message.fence.sequence, event.message.fence.epoch);
  rounds.tree(std::move(event), sequence, now, effects);
}

void Verifier::State::on(const From<Resync>& event, Time, Effects& effects) {
  rounds.resync(event.peer, event.message, find(event.message.sequence, event.message.epoch), effects);
}

// Ends sequences whose lease is over, sends again what was not acked, and tells the routers the
// load.
void Verifier::State::keep_time(Time now, Effects& effects) {
  std::erase_if(sequences, [&](const auto& sequence) {
    if (now < sequence->delivery.lease_ends || sequence->step.in_step) return false;
    ++counters.leases_expired;
    if (sequence->running() && sequence->spec.trace.traced()) effects.push_back(span_of(*sequence, now));
    rounds.release(*sequence, effects);
    return true;
  });
  for (const auto& sequence : sequences) {
    const auto resend_at = sequence->delivery.window.resend_at(sequence->to_send());
    if (!resend_at || now < *resend_at) continue;
    sequence->delivery.window.again();
    deliver(*sequence, now, effects);
  }
  const WorkerLoad load{.sequences = static_cast<uint32_t>(std::max<size_t>(counters.live, slices.size())),
                        .waiting = static_cast<uint32_t>(counters.waiting),
                        .steps = counters.steps};
  if (worker.heartbeat_due(now)) count_drafters(now);
  worker.send_heartbeats(now, load, effects);
  links.keep(now, effects);
}

void Verifier::State::set_alarm(Time now, Effects& effects) {
  std::optional<Time> next;
  const auto at = [&](Time time) { next = std::min(next.value_or(time), time); };
  if (const auto ask = links.next()) at(*ask);
  for (const auto& sequence : sequences) {
    if (!sequence->step.in_step) at(sequence->delivery.lease_ends);
    if (const auto resend_at = sequence->delivery.window.resend_at(sequence->to_send())) at(*resend_at);
    if (computing || !sequence->running()) continue;
    for (const AwaitedTree& tree : schedule.awaited(*sequence, now)) at(tree.ends);
  }
  if (const auto wait_ends = schedule.next(); wait_ends && !computing) at(*wait_ends);
  worker.set_alarm(next, effects);
}

void Verifier::State::count() {
  counters.live = sequences.size() + starts.size();
  counters.waiting = static_cast<uint64_t>(std::ranges::count_if(
      sequences, [](const auto& sequence) { return sequence->running() && !sequence->context.holds_blocks(); }));
  counters.blocks_free = static_cast<uint64_t>(cache.blocks_free());
  counters.blocks_kept = static_cast<uint64_t>(cache.blocks_kept());
  counters.prefixes_evicted = cache.prefixes_evicted();
  counters.preempted = cache.sequences_evicted();
  counters.resident = resident.work();
  counters.worker = worker.counters();
  counters.attaches_waiting = links.unanswered();
  counters.step_cost = schedule.cost().times();
  counters.step_rows_max = config.step_rows_max;
  counters.step_overhead = schedule.cost().overhead_seconds();
  counters.attention_cost = schedule.cost().attention();
}

void Verifier::State::count_drafters(Time now) {
  std::vector<DrafterGain> gains;
  const auto counts_as = [&](const DraftKindCounters& kind, const DrafterLink& link) {
    if (kind.kind != kOtherKind) return link.kind == kind.kind;
    return std::ranges::find(counters.draft_kinds, link.kind, &DraftKindCounters::kind) == counters.draft_kinds.end();
  };
  for (DraftKindCounters& kind : counters.draft_kinds) {
    if (kind.here) continue;  // it counts itself (draft_sources.cpp)
    std::vector<double> greedy, coupled;
    double answers_in = 0, drafts_in = 0;
    uint64_t answered = 0;
    kind.drafters = 0;
    for (const DrafterLink& link : links.all()) {
      if (!link.attached || !counts_as(kind, link)) continue;
      ++kind.drafters;
      for (const Rule rule : {Rule::greedy, Rule::coupled}) {
        const DrafterWorth& worth = link.worth.of(rule);
        if (worth.tried()) (rule == Rule::greedy ? greedy : coupled).push_back(worth.gain(rounds.row_price()));
      }
      answered += link.answers_in > Time{} ? 1 : 0;
      answers_in += static_cast<double>(link.answers_in.count()) * 1e-6;
      drafts_in += static_cast<double>(link.drafts_in.count()) * 1e-6;
    }
    kind.answer_seconds = answered == 0 ? 0 : answers_in / static_cast<double>(answered);
    kind.drafting_seconds = answered == 0 ? 0 : drafts_in / static_cast<double>(answered);
    kind.greedy_gain = mean(greedy);
    kind.coupled_gain = mean(coupled);
  }
  for (const DrafterLink& link : links.all()) {
    for (const Rule rule : {Rule::greedy, Rule::coupled}) {
      const DrafterWorth& worth = link.worth.of(rule);
      if (!link.attached || !worth.known(now)) continue;
      const auto tokens = static_cast<float>(std::clamp<double>(worth.gain(rounds.row_price()), -kTreeNodesMax, kTreeNodesMax));
      gains.push_back({.drafter = link.incarnation, .greedy = rule == Rule::greedy, .tokens = tokens});
    }
  }
  worker.drafters_gain(std::move(gains));
}

Verifier::Verifier(VerifierConfig config, std::unique_ptr<Method> resident)
    : state_(std::make_unique<State>(std::move(config), std::move(resident))) {}
Verifier::~Verifier() = default;

void Verifier::on(Event event, Time now, std::vector<Effect>& effects) {
  if (state_->admits(event)) {
    std::visit([&](auto&& heard) { state_->on(std::forward<decltype(heard)>(heard), now, effects); }, std::move(event));
  } else {
    state_->on(Malformed{sender_of(event)->peer, "a message that is another role's to send"}, now, effects);
  }
  state_->keep_time(now, effects);
  state_->start_step(now, effects);
  state_->set_alarm(now, effects);
  state_->count();
}

const VerifierCounters& Verifier::counters() const { return state_->counters; }

}  // namespace slipstream
