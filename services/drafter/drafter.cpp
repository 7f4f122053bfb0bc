#include "services/drafter/drafter.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/actor/membership.h"
#include "common/base/limits.h"
#include "services/drafter/draft_queue.h"
#include "services/drafter/sequences.h"
#include "services/drafter/verifier_peers.h"

namespace slipstream {
namespace {

Hello self(const DrafterConfig& config) {
  return {.versions = {},
          .role = Role::drafter,
          .incarnation = config.incarnation,
          .fingerprint = config.fingerprint,
          .numerics_id = {},
          .methods = {config.method},
          .needs = config.needs,
          .sequences_max = kSequencesPerDrafterMax,
          .draft_endpoint = config.draft_endpoint,
          .metrics_endpoint = config.metrics_endpoint};
}

StopRule rule_of(const Tuning& tuning) {
  return {.nodes_max = std::min<int>(tuning.nodes_max, kTreeNodesMax),
          .depth_max = std::min<int>(tuning.depth_max, kTreeDepthMax),
          .threshold = tuning.threshold};
}

// A sentence, or nothing if the two may work together.
std::string why_not(const Attach& attach, const Fingerprint& ours) {
  if (!attach.versions.includes(kProtocolVersion)) {
    return fmt::format("this drafter speaks protocol version {}, the verifier {} to {}: install the same release on both",
                       kProtocolVersion, attach.versions.oldest, attach.versions.newest);
  }
  if (!attach.fingerprint.same_tokens(ours)) {
    return fmt::format(
        "tokenizers differ (drafter {:016x} with {} ids, verifier {:016x} with {}): start the drafter with the verifier's "
        "model "
        "folder",
        ours.tokenizer, ours.vocabulary, attach.fingerprint.tokenizer, attach.fingerprint.vocabulary);
  }
  return {};
}

}  // namespace

struct Drafter::State {
  using Effects = std::vector<Effect>;

  explicit State(DrafterConfig given) : config(std::move(given)), membership(self(config), config.routers) {}

  // Events.
  void take(Woke, Time now, Effects& effects);
  void take(PeerUp event, Time now, Effects& effects);
  void take(PeerDown event, Time now, Effects& effects);
  void take(const Malformed& event, Time now, Effects& effects);
  void take(const From<Welcome>& event, Time now, Effects& effects);
  void take(const From<Refuse>& event, Time now, Effects& effects);
  void take(const From<RouterHeartbeat>&, Time, Effects&) {}  // a router that is silent is the link's business
  void take(const From<Drain>& event, Time now, Effects& effects);
  void take(const From<Attach>& event, Time now, Effects& effects);
  void take(From<Advance> event, Time now, Effects& effects);
  void take(const From<Features>& event, Time now, Effects& effects);
  void take(const From<Release>& event, Time now, Effects& effects);
  void take(const From<Unknown>&, Time, Effects&) { ++counters.unknown_tags; }
  void take(Ran<DraftPlan, Drafts> event, Time now, Effects& effects);

  // After each event.
  void keep_time(Time now, Effects& effects);
  void set_alarm(Effects& effects);
  void count();

  VerifierPeer* meet(Peer peer, Time now);           // null: quarantined, or a router
  VerifierPeer* meet_attached(Peer peer, Time now);  // null besides: has not attached
  void strike(Peer peer, VerifierPeer& from, Effects& effects, const std::string& why);
  bool possible(const Advance& advance) const;
  bool has_room(const HeldSequence* held, const Advance& advance) const;
  void apply(const DraftKey& key, Advance advance, Fit fit, Time now);
  void resync(const DraftKey& key, const Advance& advance, int32_t held, Effects& effects);
  void send_empty(Peer peer, const Advance& advance, NoNodes reason, Effects& effects);
  void answer(const DraftAsk& ask, Tree answer, const TokenTree* tree, uint32_t draft_us, Effects& effects);
  bool erase(const DraftKey& key);  // from the method, too
  void free(const std::vector<DraftKey>& keys);
  void overtake(const DraftKey& key);  // a newer round: what was asked before is not worth drafting
  WorkerHeartbeat load(Time now);

  DrafterConfig config;
  DrafterCounters counters;
  Membership membership;
  VerifierPeers verifiers;
  Sequences sequences;
  bool born = false;
  bool leaving = false;
  Time next_sweep{};
  std::optional<Time> alarm;

  DraftQueue queue;

  // Since the last heartbeat.
  Time load_since{};
  Time busy{};
};

// ---- Routers -------------------------------------------------------------------------------------------------------------

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

// ---- Verifiers -----------------------------------------------------------------------------------------------------------

VerifierPeer* Drafter::State::meet(Peer peer, Time now) {
  if (membership.owns(peer)) {
    ++counters.misplaced;
    return nullptr;
  }
  std::optional<Peer> evicted;
  VerifierPeer& met = verifiers.meet(peer, now, evicted);
  if (evicted) free(sequences.of(*evicted));
  return met.quarantined() ? nullptr : &met;
}

VerifierPeer* Drafter::State::meet_attached(Peer peer, Time now) {
  VerifierPeer* met = meet(peer, now);
  if (met == nullptr || met->attached) return met;
  ++counters.unattached;
  return nullptr;
}

void Drafter::State::strike(Peer peer, VerifierPeer& from, Effects& effects, const std::string& why) {
  ++from.strikes;
  if (!from.quarantined()) return;
  from.attached = false;
  ++counters.quarantined;
  free(sequences.of(peer));
  effects.push_back(Disconnect{peer});
  effects.push_back(
      Note{fmt::format("ignoring verifier {:016x} after {} malformed messages, the last: {}", peer.id, kStrikesMax, why)});
}

void Drafter::State::take(const Malformed& event, Time now, Effects& effects) {
  ++counters.malformed;
  if (membership.owns(event.peer)) return;
  if (VerifierPeer* met = meet(event.peer, now)) strike(event.peer, *met, effects, event.why);
}

void Drafter::State::take(const From<Attach>& event, Time now, Effects& effects) {
  VerifierPeer* met = meet(event.peer, now);
  if (met == nullptr) return;
  std::string refusal = leaving ? "this drafter is leaving: use another" : why_not(event.message, config.fingerprint);
  met->attached = refusal.empty();
  if (met->attached) {
    ++counters.attached;
  } else {
    ++counters.attach_refused;
    free(sequences.of(event.peer));
    effects.push_back(Note{fmt::format("refused verifier {:016x}: {}", event.message.verifier, refusal)});
  }
  effects.push_back(To<Attached>{event.peer,
                                 {.drafter = config.incarnation,
                                  .fingerprint = config.fingerprint,
                                  .method = config.method,
                                  .needs = config.needs,
                                  .refusal = std::move(refusal)}});
}

void Drafter::State::take(const From<Features>& event, Time now, Effects& effects) {
  ++counters.misplaced;  // no method of this release needs them, so nobody was told to send them
  if (VerifierPeer* met = meet_attached(event.peer, now)) strike(event.peer, *met, effects, "features that nobody asked for");
}

// ---- Sequences -----------------------------------------------------------------------------------------------------------

bool Drafter::State::possible(const Advance& advance) const {
  const auto known = [&](TokenId token) { return 0 <= token && token < config.fingerprint.vocabulary; };
  const int64_t after = int64_t{advance.fence.base_length} + static_cast<int64_t>(advance.tokens.size());
  return advance.fence.base_length >= 0 && after <= kContextTokensMax && std::ranges::all_of(advance.tokens, known);
}

bool Drafter::State::has_room(const HeldSequence* held, const Advance& advance) const {
  if (held == nullptr && sequences.size() >= static_cast<size_t>(kSequencesPerDrafterMax)) return false;
  return sequences.tokens() + static_cast<int64_t>(advance.tokens.size()) <= kDrafterTokensMax;
}

void Drafter::State::take(From<Advance> event, Time now, Effects& effects) {
  VerifierPeer* met = meet_attached(event.peer, now);
  if (met == nullptr) return;
  ++counters.advances;
  const Advance& advance = event.message;
  if (!possible(advance)) {
    ++counters.invalid;
    return strike(event.peer, *met, effects, "an Advance with tokens outside the vocabulary or the context limit");
  }
  if (leaving) {
    ++counters.leaving;
    return send_empty(event.peer, advance, NoNodes::leaving, effects);
  }
  const DraftKey key{event.peer, advance.fence.sequence};
  const HeldSequence* held = sequences.find(key);
  switch (const Fit how = fit(held, advance)) {
    case Fit::stale:
      ++counters.stale;
      return;
    case Fit::begin:
    case Fit::extend:
      if (has_room(held, advance)) return apply(key, std::move(event.message), how, now);
      ++counters.busy;
      return send_empty(event.peer, advance, NoNodes::busy, effects);
    case Fit::gap:
      overtake(key);
      return resync(key, advance, held->length, effects);
    case Fit::mismatch:
      if (held == nullptr && !has_room(held, advance)) {
        ++counters.busy;
        return send_empty(event.peer, advance, NoNodes::busy, effects);
      }
      free(held == nullptr ? std::vector<DraftKey>{} : std::vector{key});
      return resync(key, advance, 0, effects);
  }
}

void Drafter::State::apply(const DraftKey& key, Advance advance, Fit fit, Time now) {
  ++counters.applied;
  const HeldSequence& held = sequences.apply(key, advance, fit, now);
  if (fit == Fit::begin) {
    ++counters.sequences_begun;
    queue.begin(key, *advance.info);
  }
  queue.extend(key, std::move(advance.tokens));
  overtake(key);
  if (!advance.draft) return;
  ++counters.asks;
  const Fence fence{.sequence = key.sequence,
                    .epoch = held.epoch,
                    .round = held.round,
                    .base_length = held.length,
                    .prefix_hash = held.hash.value()};
  queue.ask(key, rule_of(advance.tuning), {.fence = fence, .tuning_version = advance.tuning.version, .nodes = {}});
}

void Drafter::State::overtake(const DraftKey& key) { counters.asks_overtaken += queue.withdraw(key); }

void Drafter::State::resync(const DraftKey& key, const Advance& advance, int32_t held, Effects& effects) {
  ++counters.resyncs;
  effects.push_back(To<Resync>{key.verifier, {key.sequence, advance.fence.epoch, advance.fence.round, held}});
}

void Drafter::State::send_empty(Peer peer, const Advance& advance, NoNodes reason, Effects& effects) {
  if (!advance.draft) return;
  ++counters.asks;
  ++counters.empty_trees;
  effects.push_back(To<Tree>{
      peer, {.fence = fence_after(advance), .tuning_version = advance.tuning.version, .nodes = {}, .no_nodes = reason}});
}

void Drafter::State::take(const From<Release>& event, Time now, Effects&) {
  if (meet_attached(event.peer, now) == nullptr) return;
  const DraftKey key{event.peer, event.message.sequence};
  const HeldSequence* held = sequences.find(key);
  if (held == nullptr || event.message.epoch < held->epoch) return;
  erase(key);
  ++counters.sequences_released;
}

bool Drafter::State::erase(const DraftKey& key) {
  if (!sequences.erase(key)) return false;
  overtake(key);
  queue.end(key);
  return true;
}

void Drafter::State::free(const std::vector<DraftKey>& keys) {
  for (const DraftKey& key : keys) counters.sequences_freed += erase(key);
}

// ---- Jobs ----------------------------------------------------------------------------------------------------------------

void Drafter::State::take(Ran<DraftPlan, Drafts> event, Time, Effects& effects) {
  ++counters.jobs;
  if (!event.result) {
    ++counters.failed_jobs;
    effects.push_back(Note{fmt::format("a draft job failed: {}", event.result.error().message)});
  } else {
    busy += Time(event.result->draft_us);
    if (!event.job.asks.empty()) counters.draft_seconds.observe(event.result->draft_us * 1e-6);
  }
  const uint32_t draft_us = event.result ? event.result->draft_us : 0;
  for (size_t i = 0; i < event.job.asks.size(); ++i) {
    const TokenTree* tree = event.result ? &event.result->trees[i] : nullptr;
    answer(event.job.asks[i], std::move(event.job.answers[i]), tree, draft_us, effects);
  }
  queue.finished(std::move(event.job));
}

// tree: null when the job failed.
void Drafter::State::answer(const DraftAsk& ask, Tree answer, const TokenTree* tree, uint32_t draft_us, Effects& effects) {
  const size_t nodes = tree == nullptr ? 0 : static_cast<size_t>(tree->size());
  counters.nodes_drafted += nodes;
  const HeldSequence* held = sequences.find(ask.key);
  const Fence& fence = answer.fence;
  if (held == nullptr || held->epoch != fence.epoch || held->round != fence.round || held->length != fence.base_length) {
    ++counters.asks_overtaken;
    counters.nodes_discarded += nodes;
    return;
  }
  if (nodes > 0) {
    answer.nodes.assign(tree->nodes().begin(), tree->nodes().end());
    counters.nodes_sent += nodes;
    ++counters.trees;
  } else {
    answer.no_nodes = tree == nullptr ? NoNodes::busy : NoNodes::below_threshold;
    ++counters.empty_trees;
  }
  answer.draft_us = draft_us;
  effects.push_back(To<Tree>{ask.key.verifier, std::move(answer)});
}

// ---- Time ----------------------------------------------------------------------------------------------------------------

WorkerHeartbeat Drafter::State::load(Time now) {
  const Time period = now - load_since;
  const float share = period > Time{} ? static_cast<float>(busy.count()) / static_cast<float>(period.count()) : 0.0F;
  return {.incarnation = config.incarnation,
          .sequences = static_cast<uint32_t>(sequences.size()),
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
  if (now >= kSequenceLease) free(sequences.silent_since(now - kSequenceLease));
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
}

Drafter::Drafter(DrafterConfig config) : state_(std::make_unique<State>(std::move(config))) {}
Drafter::~Drafter() = default;

void Drafter::on(Event event, Time now, std::vector<Effect>& effects) {
  std::visit([&](auto&& e) { state_->take(std::move(e), now, effects); }, std::move(event));
  state_->keep_time(now, effects);
  if (auto plan = state_->queue.start()) effects.push_back(Run<DraftPlan>{*std::move(plan)});
  state_->set_alarm(effects);
  state_->count();
}

const DrafterCounters& Drafter::counters() const { return state_->counters; }

}  // namespace slipstream
