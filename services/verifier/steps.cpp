// Verify steps: when one starts, and what its result does.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/engine/node_shares.h"
#include "services/verifier/settle.h"
#include "services/verifier/verifier_state.h"

namespace slipstream {

// A prompt of several chunks need not wait: its tree is used in the chunk that has the root.
bool Verifier::State::waits_for_draft(const VerifierSequence& sequence, Time now) const {
  return drafting.waits(sequence, now) && (sequence.timing().waits_alone || sequence.prompt_rows_left() < config.step_rows_max);
}

// The youngest sequence that holds blocks, if it is younger than this one and has no rows in this step. It will compute its
// tokens again when there is room (row invariance: to the same bits).
CachedSequence* Verifier::State::victim_for(const CachedSequence& needy) {
  const auto self =
      std::ranges::find_if(sequences.rbegin(), sequences.rend(), [&](const auto& other) { return &other->context == &needy; });
  const auto victim = std::find_if(sequences.rbegin(), self,
                                   [](const auto& other) { return !other->in_step && other->context.holds_blocks(); });
  return victim == self ? nullptr : &(*victim)->context;
}

// What is asked for once this step is over, and cut to in the next. A tree that keeps its budget (tree_timing.h) keeps the one
// that it was asked with.
void Verifier::State::share_nodes() {
  std::vector<VerifierSequence*> takers;
  std::vector<Bettor> bettors;
  StepLoad roots;
  for (const auto& sequence : sequences) {
    if (!sequence->running() || (sequence->prompt_rows_left() > 0 && !sequence->root_in_step)) continue;
    roots = roots.with(1, sequence->root());
    if (sequence->timing().keeps_budget && sequence->draft.asked && !sequence->root_in_step) continue;
    takers.push_back(sequence.get());
    bettors.push_back({.alpha = sequence->rate.alpha(),
                       .nodes_max = std::min<int>(sequence->tuning.nodes_max, 2 * sequence->guard.ambition()),
                       .visible = sequence->root()});
  }
  const std::vector<int> shares = slipstream::share_nodes(bettors, roots, cost);
  for (size_t i = 0; i < takers.size(); ++i) {
    takers[i]->guard.afford(shares[i]);
    counters.affordable_nodes.observe(shares[i]);
  }
}

// Starts a step when a sequence is ready, unless a tree is due and waiting for it can be paid for to the end: that wait ends at
// the tree's deadline at the latest.
void Verifier::State::start_step(Time now, Effects& effects) {
  if (computing) return;
  std::vector<VerifierSequence*> ready;
  bool due = false, withheld = false;
  Time expected{};  // the last of the trees that are due
  for (const auto& sequence : sequences) {
    if (!sequence->running()) continue;
    if (waits_for_draft(*sequence, now)) {
      if (sequence->timing().waits_alone) {
        withheld = true;
        continue;
      }
      due = true;
      expected = std::max(expected, drafting.expected(*sequence, now));
    }
    ready.push_back(sequence.get());
  }
  if (ready.empty()) return waits_since.reset();
  if (due && wait_budget.allows(now - waits_since.value_or(now), expected)) {
    if (!waits_since) waits_since = now;
    return;
  }
  counters.unwaited_steps += due ? 1 : 0;
  waited = now - std::exchange(waits_since, std::nullopt).value_or(now);
  const GatherLimits limits{.cost = cost,
                            .rows_max = config.step_rows_max,
                            .blocks_max = blocks_of_a_sequence(config.context_max),
                            .context_max = config.context_max};
  lanes = gather(ready, limits, cache, plan, counters.trimmed);
  for (const Lane& lane : lanes) {
    counters.prefix_tokens += static_cast<uint64_t>(lane.adopted_rows);
    SpeculationReport& report = find(lane)->report;
    if (report.steps == 0) report.cached_tokens = std::max(report.cached_tokens, static_cast<uint32_t>(lane.adopted_rows));
  }
  if (lanes.empty()) {  // the oldest always has its blocks, but may be one that waits
    CHECK(withheld, "{} sequences are ready and none fits the cache", ready.size());
    return;
  }
  computing = true;
  step_began = now;
  load = load_of(plan.step);
  share_nodes();
  counters.step_rows += static_cast<uint64_t>(plan.step.rows());
  effects.push_back(Run<VerifyPlan>{std::move(plan)});
}

void Verifier::State::take(Ran<VerifyPlan, Choices> event, Time now, Effects& effects) {
  computing = false;
  ++counters.steps;
  plan = std::move(event.job);
  if (event.result) {
    counters.step_seconds.observe(event.result->forward_us * 1e-6);
    worker.computed(Time(event.result->forward_us));
    const double seconds = event.result->forward_us * 1e-6;
    counters.cost_error.observe(std::abs(seconds / cost.forward_seconds(load) - 1));
    cost.ran(load, seconds, static_cast<double>((now - step_began).count()) * 1e-6 - seconds);
  } else {
    ++counters.failed_steps;
  }
  int accepted = 0, decoding = 0;
  for (Lane& lane : std::exchange(lanes, {})) {
    VerifierSequence* sequence = find(lane);
    if (sequence == nullptr) {  // ended while the step ran
      counters.stale += static_cast<uint64_t>(lane.tree.size());
      continue;
    }
    sequence->in_step = sequence->root_in_step = false;
    if (!event.result) {
      sequence->finish = Finish::error;
      sequence->finish_reason = event.result.error().message;
      sequence->report.held -= static_cast<uint32_t>(lane.tree.size());
      sequence->report.stale += static_cast<uint32_t>(lane.tree.size());
      counters.stale += static_cast<uint64_t>(lane.tree.size());
      deliver(*sequence, now, effects);
      stop(*sequence, effects);
      continue;
    }
    if (!lane.decodes) {
      sequence->context.computed(lane.slice.context_rows);
      cache.keep(sequence->context);
      continue;
    }
    ++decoding;
    accepted += decoded(*sequence, lane, *event.result, now, effects);
  }
  counters.waited_seconds += static_cast<double>(waited.count()) * 1e-6;
  if (event.result) wait_budget.step(waited, Time(event.result->forward_us), decoding > 0 ? double(accepted) / decoding : 0);
}

namespace {

Walk walked(const Lane& lane, const Choices& choices) {
  if (lane.judgement >= 0) return choices.judged[static_cast<size_t>(lane.judgement)].walk;
  const auto rows = static_cast<size_t>(lane.tree.size()) + 1;
  return walk(lane.tree.tokens(), std::span(choices.chosen).subspan(static_cast<size_t>(lane.slice.first_wanted), rows));
}

// spent: [what the walk emits] or nothing; of those, `emitted` were kept.
void tell_spent(VerifierSequence& sequence, std::span<const double> spent, int emitted) {
  for (const double variation : spent.first(std::min(spent.size(), static_cast<size_t>(emitted)))) {
    sequence.report.spent += static_cast<float>(variation);
  }
}

}  // namespace

// How many nodes of its tree were accepted.
int Verifier::State::decoded(VerifierSequence& sequence, const Lane& lane, const Choices& choices, Time now, Effects& effects) {
  const Settled settled = settle(sequence, lane, walked(lane, choices), counters);
  if (lane.judgement >= 0) tell_spent(sequence, choices.judged[static_cast<size_t>(lane.judgement)].spent, settled.emitted);
  if (sequence.spec.top_logprobs) {
    const auto rows = static_cast<size_t>(lane.tree.size()) + 1;
    keep_logprobs(sequence, settled, std::span(choices.logprobs).subspan(static_cast<size_t>(lane.slice.first_logprob), rows));
  }
  if (sequence.finish == Finish::error)
    tell_why_none(sequence, config.fingerprint.vocabulary, counters);
  else
    cache.keep(sequence.context);
  ++(lane.tree.empty() ? counters.plain_rounds : counters.draft_rounds);
  counters.overhead_seconds.observe(static_cast<double>((now - sequence.round_began).count() - choices.forward_us) * 1e-6);
  if (!lane.tree.empty()) sequence.rate.tree(lane.tree.depth(), settled.accepted_nodes);
  drafting.settled(sequence, lane.tree.size(), settled.accepted_nodes);
  tell_lateness(sequence, now, effects);
  deliver(sequence, now, effects);
  if (sequence.running())
    drafting.begin_round(sequence, now, effects);
  else
    stop(sequence, effects);
  return settled.accepted_nodes;
}

void Verifier::State::tell_lateness(const VerifierSequence& sequence, Time now, Effects& effects) {
  const auto tally = late_trees.look(counters, now);
  if (!tally) return;
  const auto in_ms = [](Time time) { return std::chrono::duration<double, std::milli>(time).count(); };
  const Time answers_in = drafting.expected(sequence, sequence.round_began);
  effects.push_back(Note{
      fmt::format(
          "{} of the last {} trees asked for came too late: one is waited for {:g} ms at most (--deadline-us of the router), "
          "and only while waiting pays (--wait-percent here); the newest drafter {}. Give drafters cores of their own or "
          "a smaller draft model, or raise these",
          tally->late, tally->asked, in_ms(Time(sequence.tuning.deadline_us)),
          answers_in == Time{} ? "has not answered yet" : fmt::format("answers in {:.0f} ms", in_ms(answers_in))),
      true});
}

void Verifier::State::stop(VerifierSequence& sequence, Effects& effects) {
  drafting.release(sequence, effects);
  sequence.context.forget();
}

}  // namespace slipstream
