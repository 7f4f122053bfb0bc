// Verify steps: when one starts, and what its result does.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/engine/row_budget.h"
#include "services/verifier/settle.h"
#include "services/verifier/verifier_state.h"

namespace slipstream {

// A prompt of several chunks need not wait: its tree is used in the chunk that has the root.
bool Verifier::State::waits_for_draft(const VerifierSequence& sequence, Time now) const {
  return drafting.waits(sequence, now) && (sequence.timing().waits_alone || sequence.prompt_rows_left() < config.step_rows_max);
}

// The youngest sequence that holds blocks, if it is younger than this one and has no rows in this
// step. It will compute its tokens again when there is room (row invariance: to the same bits).
CachedSequence* Verifier::State::victim_for(const CachedSequence& needy) {
  const auto self =
      std::ranges::find_if(sequences.rbegin(), sequences.rend(), [&](const auto& other) { return &other->context == &needy; });
  const auto victim = std::find_if(sequences.rbegin(), self,
                                   [](const auto& other) { return !other->in_step && other->context.holds_blocks(); });
  return victim == self ? nullptr : &(*victim)->context;
}

// What is asked for once this step is over, and cut to in the next. A tree that keeps its budget
// (tree_timing.h) keeps the one that it was asked with.
void Verifier::State::split_row_budget() {
  std::vector<VerifierSequence*> takers;
  std::vector<DraftCandidate> candidates;
  StepLoad roots;
  for (const auto& sequence : sequences) {
    if (!sequence->running() || (sequence->prompt_rows_left() > 0 && !sequence->root_in_step)) continue;
    roots = roots.with(1, sequence->root());
    if (sequence->timing().keeps_budget && sequence->draft.asked && !sequence->root_in_step) continue;
    takers.push_back(sequence.get());
    candidates.push_back({.alpha = sequence->rate.alpha(),
                          .nodes_max = std::min<int>(sequence->tuning.nodes_max, 2 * sequence->backoff.nodes_cap()),
                          .visible = sequence->root()});
  }
  const std::vector<int> shares = slipstream::split_row_budget(candidates, roots, cost);
  for (size_t i = 0; i < takers.size(); ++i) {
    takers[i]->backoff.set_row_budget(shares[i]);
    counters.affordable_nodes.observe(shares[i]);
  }
}

// Starts a step when a sequence is ready, unless a tree is due and waiting for it can be paid for
// to the end: that wait ends at the tree's deadline at the latest.
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
  slices = gather(ready, limits, cache, plan, counters.trimmed);
  for (const BatchSlice& slice : slices) {
    counters.prefix_tokens += static_cast<uint64_t>(slice.adopted_rows);
    SpeculationReport& report = find(slice)->report;
    if (report.steps == 0) report.cached_tokens = std::max(report.cached_tokens, static_cast<uint32_t>(slice.adopted_rows));
  }
  if (slices.empty()) {  // the oldest always has its blocks, but may be one that waits
    CHECK(withheld, "{} sequences are ready and none fits the cache", ready.size());
    return;
  }
  computing = true;
  step_began = now;
  load = load_of(plan.step);
  split_row_budget();
  counters.step_rows += static_cast<uint64_t>(plan.step.rows());
  effects.push_back(Run<VerifyPlan>{std::move(plan)});
}

void Verifier::State::take(Ran<VerifyPlan, StepOutput> event, Time now, Effects& effects) {
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
  for (BatchSlice& slice : std::exchange(slices, {})) {
    VerifierSequence* sequence = find(slice);
    if (sequence == nullptr) {  // ended while the step ran
      counters.stale += static_cast<uint64_t>(slice.tree.size());
      continue;
    }
    sequence->in_step = sequence->root_in_step = false;
    if (!event.result) {
      sequence->finish = Finish::error;
      sequence->finish_reason = event.result.error().message;
      sequence->report.held -= static_cast<uint32_t>(slice.tree.size());
      sequence->report.stale += static_cast<uint32_t>(slice.tree.size());
      counters.stale += static_cast<uint64_t>(slice.tree.size());
      deliver(*sequence, now, effects);
      stop(*sequence, effects);
      continue;
    }
    if (!slice.decodes) {
      sequence->context.computed(slice.slice.context_rows);
      cache.keep(sequence->context);
      continue;
    }
    ++decoding;
    accepted += decoded(*sequence, slice, *event.result, now, effects);
  }
  counters.waited_seconds += static_cast<double>(waited.count()) * 1e-6;
  if (event.result) wait_budget.step(waited, Time(event.result->forward_us), decoding > 0 ? double(accepted) / decoding : 0);
}

namespace {

Walk walked(const BatchSlice& slice, const StepOutput& output) {
  if (slice.rejection_task >= 0) return output.rejections[static_cast<size_t>(slice.rejection_task)].walk;
  const auto rows = static_cast<size_t>(slice.tree.size()) + 1;
  return walk(slice.tree.tokens(),
              std::span(output.sampled_tokens).subspan(static_cast<size_t>(slice.slice.first_wanted), rows));
}

// spent: [what the walk emits] or nothing; of those, `emitted` were kept.
void add_spent(VerifierSequence& sequence, std::span<const double> spent, int emitted) {
  for (const double variation : spent.first(std::min(spent.size(), static_cast<size_t>(emitted)))) {
    sequence.report.spent += static_cast<float>(variation);
  }
}

}  // namespace

// How many nodes of its tree were accepted.
int Verifier::State::decoded(VerifierSequence& sequence, const BatchSlice& slice, const StepOutput& output, Time now,
                             Effects& effects) {
  const Settled settled = settle(sequence, slice, walked(slice, choices), counters);
  if (slice.rejection_task >= 0)
    add_spent(sequence, output.rejections[static_cast<size_t>(slice.rejection_task)].spent, settled.emitted);
  if (sequence.spec.top_logprobs) {
    const auto rows = static_cast<size_t>(slice.tree.size()) + 1;
    keep_logprobs(sequence, settled, std::span(output.logprobs).subspan(static_cast<size_t>(slice.slice.first_logprob), rows));
  }
  if (sequence.finish == Finish::error)
    explain_no_token(sequence, config.fingerprint.vocabulary, counters);
  else
    cache.keep(sequence.context);
  ++(slice.tree.empty() ? counters.plain_rounds : counters.draft_rounds);
  counters.overhead_seconds.observe(static_cast<double>((now - sequence.round_began).count() - output.forward_us) * 1e-6);
  if (!slice.tree.empty()) sequence.rate.tree(slice.tree.depth(), settled.accepted_nodes);
  drafting.settled(sequence, slice.tree.size(), settled.accepted_nodes);
  log_lateness(sequence, now, effects);
  deliver(sequence, now, effects);
  if (sequence.running())
    drafting.begin_round(sequence, now, effects);
  else
    stop(sequence, effects);
  return settled.accepted_nodes;
}

void Verifier::State::log_lateness(const VerifierSequence& sequence, Time now, Effects& effects) {
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
