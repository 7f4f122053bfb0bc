#include "services/verifier/verifier.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/actor/membership.h"
#include "common/base/check.h"
#include "services/verifier/admission.h"
#include "services/verifier/drafting.h"
#include "services/verifier/gather.h"
#include "services/verifier/settle.h"

namespace slipstream {
namespace {

constexpr Time kResendInterval = std::chrono::milliseconds(200);  // unacked tokens go out again
constexpr uint64_t kFirstDrafterPeer = 1000;                      // routers are peers 1, 2, ...

Hello self(const VerifierConfig& config) {
  return {.role = Role::verifier,
          .incarnation = config.incarnation,
          .fingerprint = config.fingerprint,
          .numerics_id = config.numerics_id,
          .methods = {},
          .context_max = config.context_max,
          .sequences_max = kSequencesPerVerifierMax,
          .draft_endpoint = {},
          .metrics_endpoint = config.metrics_endpoint};
}

}  // namespace

struct Verifier::State {
  using Effects = std::vector<Effect>;

  explicit State(VerifierConfig given)
      : config(std::move(given)),
        pool(config.cache_blocks),
        membership(self(config), config.routers),
        drafting(config, counters, kFirstDrafterPeer) {}

  // Events.
  void take(Woke, Time now, Effects& effects);
  void take(PeerUp event, Time now, Effects& effects);
  void take(PeerDown event, Time now, Effects& effects);
  void take(const Malformed& event, Time now, Effects& effects);
  void take(const From<Welcome>& event, Time now, Effects& effects);
  void take(const From<Refuse>& event, Time now, Effects& effects);
  void take(const From<RouterHeartbeat>& event, Time now, Effects& effects);
  void take(const From<Drain>& event, Time now, Effects& effects);
  void take(From<Start> event, Time now, Effects& effects);
  void take(const From<Ack>& event, Time now, Effects& effects);
  void take(const From<Cancel>& event, Time now, Effects& effects);
  void take(const From<Attached>& event, Time now, Effects& effects);
  void take(From<Tree> event, Time now, Effects& effects);
  void take(const From<Resync>& event, Time now, Effects& effects);
  void take(const From<Unknown>& event, Time now, Effects& effects);
  void take(Ran<StepPlan, Choices> event, Time now, Effects& effects);

  // After each event.
  void keep_time(Time now, Effects& effects);
  void start_step(Time now, Effects& effects);
  void set_alarm(Time now, Effects& effects);
  void count();

  VerifierSequence* find(SequenceId id, Epoch epoch);
  void admit(Peer router, Start start, Time now, Effects& effects);
  void end(VerifierSequence& sequence, Effects& effects);  // forgets it
  bool waits_for_draft(const VerifierSequence& sequence, Time now) const;
  bool reserve(VerifierSequence& sequence, int32_t positions);
  void deliver(VerifierSequence& sequence, int32_t from, Time now, Effects& effects);
  void decoded(VerifierSequence& sequence, const Lane& lane, const Choices& choices, Time now, Effects& effects);

  VerifierConfig config;
  VerifierCounters counters;
  BlockPool pool;
  std::vector<std::unique_ptr<VerifierSequence>> sequences;  // oldest first
  Membership membership;
  Drafting drafting;
  bool born = false;
  bool draining = false;

  // The step in flight, if any.
  bool computing = false;
  std::vector<Lane> lanes;
  StepPlan plan;  // its buffers, while none is in flight
  std::optional<Time> alarm;
};

// ---- Routers -------------------------------------------------------------------------------------------------------------

void Verifier::State::take(Woke, Time, Effects& effects) {
  alarm.reset();
  if (!std::exchange(born, true)) membership.connect(effects);
}

void Verifier::State::take(PeerUp event, Time now, Effects& effects) {
  if (membership.owns(event.peer))
    membership.up(event.peer, now);
  else if (drafting.owns(event.peer))
    drafting.up(event.peer, effects);
}

void Verifier::State::take(PeerDown event, Time, Effects&) {
  membership.down(event.peer);  // the router's sequences live until their lease ends: it may come back
  drafting.down(event.peer);
}

void Verifier::State::take(const Malformed& event, Time, Effects& effects) {
  ++counters.malformed;
  drafting.strike(event.peer, effects);
}

void Verifier::State::take(const From<Welcome>& event, Time now, Effects&) { membership.take(event, now); }
void Verifier::State::take(const From<Refuse>& event, Time, Effects&) { membership.take(event); }

void Verifier::State::take(const From<RouterHeartbeat>& event, Time now, Effects&) {
  for (const auto& sequence : sequences) {
    if (sequence->id.router == event.message.router) sequence->lease_ends = now + sequence->lease;
  }
}

void Verifier::State::take(const From<Drain>& event, Time, Effects& effects) {
  if (std::exchange(draining, true)) return;
  membership.leave(event.message.reason, effects);
}

void Verifier::State::take(const From<Unknown>&, Time, Effects&) { ++counters.unknown_tags; }

// ---- Sequences -----------------------------------------------------------------------------------------------------------

VerifierSequence* Verifier::State::find(SequenceId id, Epoch epoch) {
  const auto at = std::ranges::find_if(sequences, [&](const auto& sequence) { return sequence->id == id; });
  return at == sequences.end() || (*at)->epoch != epoch ? nullptr : at->get();
}

void Verifier::State::take(From<Start> event, Time now, Effects& effects) {
  Start& start = event.message;
  const auto same = std::ranges::find_if(sequences, [&](const auto& sequence) { return sequence->id == start.sequence; });
  if (same != sequences.end()) {
    if ((*same)->epoch > start.epoch) {
      ++counters.fenced;
      return;
    }
    if ((*same)->epoch == start.epoch) {  // repeated until answered
      effects.push_back(To<Accepted>{event.peer, {start.sequence, start.epoch}});
      return;
    }
    end(**same, effects);
  }
  auto refused = why_not(start, config);
  if (!refused && draining) refused = NotAdmitted{"this verifier is leaving", true};
  if (!refused && sequences.size() >= static_cast<size_t>(kSequencesPerVerifierMax)) {
    refused = NotAdmitted{"all sequence slots are taken", true};
  }
  if (refused) {
    ++counters.sequences_refused;
    effects.push_back(To<Refused>{event.peer, {start.sequence, start.epoch, refused->reason, refused->retry}});
    return;
  }
  effects.push_back(To<Accepted>{event.peer, {start.sequence, start.epoch}});
  admit(event.peer, std::move(start), now, effects);
}

void Verifier::State::admit(Peer router, Start start, Time now, Effects& effects) {
  ++counters.sequences_started;
  counters.prompt_tokens += static_cast<uint64_t>(start.prompt_length);
  auto sequence = std::make_unique<VerifierSequence>(pool);
  sequence->id = start.sequence;
  sequence->epoch = start.epoch;
  sequence->router = router;
  sequence->choice = start.choice;
  sequence->prompt_length = start.prompt_length;
  sequence->sampling = start.sampling;
  sequence->seed = start.seed;
  sequence->rule = start.rule;
  sequence->output_max = start.output_max;
  sequence->stop_ids = std::move(start.stop_ids);
  sequence->drafters = std::move(start.drafters);
  sequence->tuning = std::move(start.tuning);
  sequence->lease = std::chrono::milliseconds(start.lease_ms);
  sequence->lease_ends = now + sequence->lease;
  sequence->tokens = std::move(start.tokens);
  sequence->hash.add(sequence->tokens);
  sequence->drafted.assign(static_cast<size_t>(sequence->output()), 0);
  sequence->acked = sequence->output();
  drafting.introduce(*sequence, sequences, effects);
  drafting.begin_round(*sequence, now, effects);
  sequences.push_back(std::move(sequence));
}

void Verifier::State::end(VerifierSequence& sequence, Effects& effects) {
  drafting.release(sequence, effects);
  ++counters.sequences_ended;
  std::erase_if(sequences, [&](const auto& other) { return other.get() == &sequence; });
}

void Verifier::State::take(const From<Ack>& event, Time now, Effects& effects) {
  VerifierSequence* sequence = find(event.message.sequence, event.message.epoch);
  const int32_t next = event.message.next_index;
  if (sequence == nullptr || next < sequence->acked || next > sequence->output()) {
    ++counters.fenced;
    return;
  }
  const bool repeats = next == sequence->acked && next < sequence->output();  // a gap: it misses what comes after
  sequence->acked = next;
  sequence->resend_at = now + kResendInterval;
  if (next == sequence->output() && !sequence->running()) return end(*sequence, effects);
  if (repeats) deliver(*sequence, next, now, effects);
}

void Verifier::State::take(const From<Cancel>& event, Time, Effects& effects) {
  VerifierSequence* sequence = find(event.message.sequence, event.message.epoch);
  if (sequence == nullptr) return;
  ++counters.sequences_cancelled;
  end(*sequence, effects);
}

void Verifier::State::deliver(VerifierSequence& sequence, int32_t from, Time now, Effects& effects) {
  const auto at = static_cast<size_t>(from);
  const auto prompt = static_cast<size_t>(sequence.prompt_length);
  const size_t count = std::min<size_t>(sequence.drafted.size() - at, kTokensPerMessageMax);
  const bool last = at + count == sequence.drafted.size();
  const auto ids = std::span(sequence.tokens).subspan(prompt + at, count);
  const auto drafted = std::span(sequence.drafted).subspan(at, count);
  effects.push_back(To<Tokens>{sequence.router,
                               {.sequence = sequence.id,
                                .epoch = sequence.epoch,
                                .first_index = from,
                                .ids = {ids.begin(), ids.end()},
                                .drafted = {drafted.begin(), drafted.end()},
                                .finish = last ? sequence.finish : Finish::none,
                                .reason = last ? sequence.finish_reason : std::string(),
                                .report = sequence.report}});
  sequence.resend_at = now + kResendInterval;
}

// ---- Drafters ------------------------------------------------------------------------------------------------------------

void Verifier::State::take(const From<Attached>& event, Time, Effects&) {
  drafting.attached(event.peer, event.message, sequences);
}

void Verifier::State::take(From<Tree> event, Time, Effects& effects) {
  VerifierSequence* sequence = find(event.message.fence.sequence, event.message.fence.epoch);
  drafting.tree(event.peer, std::move(event.message), sequence, effects);
}

void Verifier::State::take(const From<Resync>& event, Time, Effects& effects) {
  drafting.resync(event.peer, event.message, find(event.message.sequence, event.message.epoch), effects);
}

// ---- Steps ---------------------------------------------------------------------------------------------------------------

// A prompt of several chunks need not wait: its tree is used in the chunk that has the root.
bool Verifier::State::waits_for_draft(const VerifierSequence& sequence, Time now) const {
  return sequence.draft.asked && !sequence.draft.answered && now < sequence.draft.deadline &&
         sequence.prompt_rows_left() < config.step_rows_max;
}

// Room for that many positions, if need be by taking the blocks of the youngest sequence, if it is younger than this one and
// not in this step: it will compute its tokens anew (row invariance: to the same bits) when there is room again.
bool Verifier::State::reserve(VerifierSequence& sequence, int32_t positions) {
  while (!sequence.table.reserve(positions)) {
    const auto self =
        std::ranges::find(sequences.rbegin(), sequences.rend(), &sequence, &std::unique_ptr<VerifierSequence>::get);
    const auto victim = std::find_if(sequences.rbegin(), self,
                                     [](const auto& other) { return !other->in_step && !other->table.blocks().empty(); });
    if (victim == self) return false;
    (*victim)->table.shrink(0);
    (*victim)->cached = 0;
    (*victim)->moves.clear();
    ++counters.preempted;
  }
  return true;
}

// Starts a step when a sequence is ready, unless another's tree is due: that wait ends at its deadline, a few milliseconds off.
void Verifier::State::start_step(Time now, Effects& effects) {
  if (computing) return;
  std::vector<VerifierSequence*> ready;
  for (const auto& sequence : sequences) {
    if (!sequence->running()) continue;
    if (waits_for_draft(*sequence, now)) return;
    ready.push_back(sequence.get());
  }
  if (ready.empty()) return;
  const GatherLimits limits{.rows_max = config.step_rows_max,
                            .blocks_max = blocks_of_a_sequence(config.context_max),
                            .context_max = config.context_max};
  lanes = gather(
      ready, limits, [this](VerifierSequence& sequence, int32_t positions) { return reserve(sequence, positions); }, plan,
      counters.trimmed);
  CHECK(!lanes.empty(), "{} sequences are ready and none fits the cache", ready.size());
  computing = true;
  ++counters.steps;
  counters.step_rows += static_cast<uint64_t>(plan.rows());
  effects.push_back(Run<StepPlan>{std::move(plan)});
}

void Verifier::State::take(Ran<StepPlan, Choices> event, Time now, Effects& effects) {
  computing = false;
  plan = std::move(event.job);
  if (event.result) {
    counters.step_seconds.observe(event.result->forward_us * 1e-6);
  } else {
    ++counters.failed_steps;
  }
  for (Lane& lane : std::exchange(lanes, {})) {
    VerifierSequence* sequence = find(lane.id, lane.epoch);
    if (sequence == nullptr) {  // ended while the step ran
      counters.stale += static_cast<uint64_t>(lane.tree.size());
      continue;
    }
    sequence->in_step = false;
    if (!event.result) {
      sequence->finish = Finish::error;
      sequence->finish_reason = event.result.error().message;
      sequence->report.held -= static_cast<uint32_t>(lane.tree.size());
      sequence->report.stale += static_cast<uint32_t>(lane.tree.size());
      counters.stale += static_cast<uint64_t>(lane.tree.size());
      deliver(*sequence, sequence->acked, now, effects);
      continue;
    }
    if (!lane.decodes) {
      sequence->cached += lane.prompt_rows;
      continue;
    }
    decoded(*sequence, lane, *event.result, now, effects);
  }
}

void Verifier::State::decoded(VerifierSequence& sequence, const Lane& lane, const Choices& choices, Time now,
                              Effects& effects) {
  const bool asked = sequence.draft.asked;
  const bool missed = asked && !sequence.draft.answered;
  const auto chosen =
      std::span(choices.chosen).subspan(static_cast<size_t>(lane.first_wanted), static_cast<size_t>(lane.tree.size()) + 1);
  const Settled settled = settle(sequence, lane, chosen, counters);
  if (sequence.finish == Finish::error) ++counters.non_finite_rows;
  ++(lane.tree.empty() ? counters.plain_rounds : counters.draft_rounds);
  counters.missed_deadlines += missed ? 1 : 0;
  counters.overhead_seconds.observe(static_cast<double>((now - sequence.round_began).count() - choices.forward_us) * 1e-6);
  if (asked)
    sequence.guard.drafted_step(lane.tree.size(), settled.accepted_nodes, missed);
  else
    sequence.guard.plain_step();
  deliver(sequence, sequence.output() - settled.emitted, now, effects);
  if (sequence.running()) {
    drafting.begin_round(sequence, now, effects);
  } else {
    drafting.release(sequence, effects);
    sequence.table.shrink(0);
    sequence.moves.clear();
  }
}

// ---- Time ----------------------------------------------------------------------------------------------------------------

// Sends again what was not acked, ends what nobody renews, says what the routers wait for.
void Verifier::State::keep_time(Time now, Effects& effects) {
  std::erase_if(sequences, [&](const auto& sequence) {
    if (now < sequence->lease_ends || sequence->in_step) return false;
    ++counters.leases_expired;
    ++counters.sequences_ended;
    drafting.release(*sequence, effects);
    return true;
  });
  for (const auto& sequence : sequences) {
    const bool unacked = sequence->acked < sequence->output() || !sequence->running();
    if (unacked && now >= sequence->resend_at) deliver(*sequence, sequence->acked, now, effects);
  }
  const WorkerHeartbeat load{.incarnation = config.incarnation,
                             .sequences = static_cast<uint32_t>(counters.live),
                             .waiting = static_cast<uint32_t>(counters.waiting),
                             .steps = counters.steps,
                             .busy = 0};
  membership.keep(now, load, effects);
}

void Verifier::State::set_alarm(Time now, Effects& effects) {
  std::optional<Time> next = membership.next();
  const auto at = [&](Time time) { next = std::min(next.value_or(time), time); };
  for (const auto& sequence : sequences) {
    if (!sequence->in_step) at(sequence->lease_ends);
    if (sequence->acked < sequence->output() || !sequence->running()) at(sequence->resend_at);
    if (!computing && sequence->running() && waits_for_draft(*sequence, now)) at(sequence->draft.deadline);
  }
  if (next && next != alarm) effects.push_back(WakeAt{*next});
  alarm = next;
}

void Verifier::State::count() {
  counters.live = sequences.size();
  counters.waiting = static_cast<uint64_t>(std::ranges::count_if(
      sequences, [](const auto& sequence) { return sequence->running() && sequence->table.blocks().empty(); }));
  counters.blocks_free = static_cast<uint64_t>(pool.free());
  counters.held = 0;
  for (const auto& sequence : sequences) counters.held += sequence->report.held;
  for (const Lane& lane : lanes) {
    if (find(lane.id, lane.epoch) == nullptr) counters.held += static_cast<uint64_t>(lane.tree.size());
  }
  counters.welcome = membership.welcome();
}

Verifier::Verifier(VerifierConfig config) : state_(std::make_unique<State>(std::move(config))) {}
Verifier::~Verifier() = default;

void Verifier::on(Event event, Time now, std::vector<Effect>& effects) {
  std::visit([&](auto&& heard) { state_->take(std::forward<decltype(heard)>(heard), now, effects); }, std::move(event));
  state_->keep_time(now, effects);
  state_->start_step(now, effects);
  state_->set_alarm(now, effects);
  state_->count();
}

const VerifierCounters& Verifier::counters() const { return state_->counters; }

}  // namespace slipstream
