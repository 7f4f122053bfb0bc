// Advances and their answers: a Tree, a Tree without nodes and the reason, a Resync, or nothing.
//
// The answers of a sequence's rounds:
//   1. take(Advance) fences the message and, if it fits, queues the tokens and perhaps an ask.
//   2. The ask runs in a later job. A newer Advance before that withdraws it (overtake).
//   3. take(Ran) answers the asks of the job whose round is still the newest one.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "services/drafter/drafter_state.h"

namespace slipstream {
namespace {

// A decoder has checked these limits, but tests and the simulator give events that were never
// decoded.
StopRule rule_of(const Tuning& tuning) {
  return {.nodes_max = std::min<int>(tuning.nodes_max, kTreeNodesMax),
          .depth_max = std::min<int>(tuning.depth_max, kTreeDepthMax),
          .threshold = tuning.threshold};
}

}  // namespace

// Methods trust their input, so ids outside the vocabulary must not reach them. The sum needs 64
// bits: a decoded base length may be as large as the type allows.
bool Drafter::State::possible(const Advance& advance) const {
  const auto known = [&](TokenId token) { return 0 <= token && token < config.fingerprint.vocabulary; };
  const auto verdict = [&](TokenId token) { return token == kNoVerdict || known(token); };
  const int64_t after = int64_t{advance.fence.base_length} + static_cast<int64_t>(advance.tokens.size());
  return advance.fence.base_length >= 0 && after <= kContextTokensMax && std::ranges::all_of(advance.tokens, known) &&
         std::ranges::all_of(advance.verdicts, verdict) && has_features(advance);
}

// Each token but the first of a sequence comes with the features of the one before it.
bool Drafter::State::has_features(const Advance& advance) const {
  const bool begins = advance.fence.base_length == 0;
  if (config.features.head != 0 && begins && advance.tokens.size() > 1) return false;
  const size_t rows = begins ? 0 : advance.tokens.size();
  return advance.features.size() == rows * static_cast<size_t>(config.features.numbers);
}

// For all of the sequence up to this Advance's end, whatever of it is held: of one that does not
// fit nothing is asked for that is missing.
bool Drafter::State::has_room(const HeldSequence* held, const Advance& advance) const {
  if (held == nullptr && sequences.size() >= static_cast<size_t>(kSequencesPerDrafterMax)) return false;
  const int64_t others = static_cast<int64_t>(sequences.size()) - (held == nullptr ? 0 : 1);
  const int64_t others_tokens = sequences.tokens() - (held == nullptr ? 0 : held->length);
  const int64_t length = advance.fence.base_length + static_cast<int64_t>(advance.tokens.size());
  return others_tokens + length + config.room.beside * (others + 1) <= config.room.tokens;
}

void Drafter::State::on(From<Advance> event, Time now, Effects& effects) {
  VerifierPeer* met = meet(event.peer, now);
  if (met == nullptr) return;
  if (!met->attached) {  // its Attach was lost, or went to a process that has since been restarted
    ++counters.unattached;
    Attached answer = introduction("attach first: this drafter does not know you");
    answer.attach_first = true;
    effects.push_back(To<Attached>{event.peer, std::move(answer)});
    return;
  }
  ++counters.advances;
  const Advance& advance = event.message;
  if (!possible(advance)) {
    ++counters.invalid;
    return strike(event.peer, *met, effects,
                  "an Advance with tokens outside the vocabulary or the context limit, or without the features that it needs");
  }
  if (worker.draining()) {
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
      if (has_room(held, advance)) {
        if (how == Fit::begin) effects.push_back(Note{.text = "begins", .sequence = key.sequence, .detail = true});
        return apply(key, std::move(event.message), how, now);
      }
      ++counters.busy;
      return send_empty(event.peer, advance, NoNodes::busy, effects);
    case Fit::gap:
      if (!has_room(held, advance)) {
        ++counters.busy;
        return send_empty(event.peer, advance, NoNodes::busy, effects);
      }
      // The verifier's round is newer than the queued ask, even though its tokens are not here yet.
      overtake(key);
      return resync(key, advance, held->length, effects);
    case Fit::mismatch:
      // The answer to a Resync is the whole sequence, which would be refused for lack of room.
      if (!has_room(held, advance)) {
        free(held == nullptr ? std::vector<DraftKey>{} : std::vector{key});
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
  } else {
    queue.learn(key, std::move(advance.verdicts));  // on the tree of what was held until now
  }
  queue.extend(key, std::move(advance.tokens), std::move(advance.features));
  // One Advance of each round asks, so a queued ask is of an older round: its tree would be late.
  overtake(key);
  if (!advance.draft) return;
  ++counters.asks;
  const Fence fence{.sequence = key.sequence,
                    .epoch = held.epoch,
                    .round = held.round,
                    .base_length = held.length,
                    .prefix_hash = held.hash.value()};
  queue.ask({.key = key,
             .rule = rule_of(advance.tuning),
             .epoch = held.epoch,
             .round = held.round,
             .due = now + std::chrono::microseconds(advance.tuning.deadline_us)},
            {.fence = fence, .nodes = {}});
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
  effects.push_back(To<Tree>{peer, {.fence = fence_after(advance), .nodes = {}, .no_nodes = reason}});
}

void Drafter::State::on(const From<Release>& event, Time now, Effects& effects) {
  if (meet_attached(event.peer, now) == nullptr) return;
  const DraftKey key{event.peer, event.message.sequence};
  const HeldSequence* held = sequences.find(key);
  // A Release of an older epoch arrived late: the sequence has begun anew on this verifier.
  if (held == nullptr || event.message.epoch < held->epoch) return;
  erase(key);
  ++counters.sequences_released;
  effects.push_back(Note{.text = "is released by its verifier", .sequence = key.sequence, .detail = true});
}

// The method frees it in the next job. If a job with this sequence runs now, its answer finds no
// held sequence and is dropped.
bool Drafter::State::erase(const DraftKey& key) {
  const std::optional<HeldSequence> erased = sequences.erase(key);
  if (!erased) return false;
  if (erased->trace.traced()) ended.emplace_back(key, *erased);
  overtake(key);
  queue.end(key);
  return true;
}

void Drafter::State::free(const std::vector<DraftKey>& keys) {
  for (const DraftKey& key : keys) counters.sequences_freed += erase(key);  // adds 0 or 1
}

void Drafter::State::on(Ran<DraftPlan, Drafts> event, Time, Effects& effects) {
  ++counters.jobs;
  if (!event.result) {
    ++counters.failed_jobs;
    effects.push_back(Note{fmt::format("a draft job failed: {}", event.result.error().message), true});
    for (const auto& ask : event.job.asks) {
      effects.push_back(
          Note{.text = "gets no tree, because the draft job failed", .sequence = ask.key.sequence, .detail = true});
    }
  } else {
    worker.computed(Time(event.result->draft_us));
    counters.work = event.result->work;
    if (!event.job.asks.empty()) {
      counters.draft_seconds.observe(event.result->draft_us * 1e-6);
      count_levels(*event.result);
    }
  }
  const uint32_t draft_us = event.result ? event.result->draft_us : 0;
  for (size_t i = 0; i < event.job.asks.size(); ++i) {
    const Draft* draft = event.result ? &event.result->trees[i] : nullptr;
    answer(event.job.asks[i], std::move(event.job.answers[i]), draft, draft_us, effects);
  }
  queue.finished(std::move(event.job));
}

// A job that also prefilled a long prompt says nothing about levels.
void Drafter::State::count_levels(const Drafts& drafts) {
  int levels = 1;
  for (const Draft& draft : drafts.trees) {
    if (!draft) return;
    levels = std::max(levels, draft->depth());
  }
  DrafterCounters::LevelJobs& jobs = counters.by_levels[calibration_range(levels)];
  ++jobs.jobs;
  jobs.levels += static_cast<uint64_t>(levels);
  jobs.seconds += drafts.draft_us * 1e-6;
}

// The sequence may have changed while the job ran. Its tree is sent only if epoch, round and length
// are still those of the ask: the verifier would drop any other. A draft of nullopt means that the
// method has not prefilled the sequence yet: the same ask goes into the next job, unless a newer
// round comes first.
void Drafter::State::answer(const DraftAsk& ask, Tree answer, const Draft* draft, uint32_t draft_us, Effects& effects) {
  const DraftTree* tree = draft != nullptr && *draft ? &**draft : nullptr;
  const size_t nodes = tree == nullptr ? 0 : static_cast<size_t>(tree->size());
  counters.nodes_drafted += nodes;
  const HeldSequence* held = sequences.find(ask.key);
  const Fence& fence = answer.fence;
  if (held == nullptr || held->epoch != fence.epoch || held->round != fence.round || held->length != fence.base_length) {
    ++counters.asks_overtaken;
    counters.nodes_discarded += nodes;
    return;
  }
  if (draft != nullptr && tree == nullptr) return queue.ask(ask, std::move(answer));
  if (nodes > 0) {
    answer.nodes.assign(tree->nodes().begin(), tree->nodes().end());
    answer.distributions = distributions_of(*tree);
    counters.nodes_sent += nodes;
    ++counters.trees;
    sequences.sent(ask.key, nodes);
  } else {
    answer.no_nodes = tree == nullptr ? NoNodes::busy : NoNodes::below_threshold;
    ++counters.empty_trees;
  }
  answer.draft_us = draft_us;
  effects.push_back(To<Tree>{ask.key.verifier, std::move(answer)});
}

}  // namespace slipstream
