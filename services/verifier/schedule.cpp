#include "services/verifier/schedule.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/engine/row_budget.h"
#include "common/kv/block_table.h"

namespace slipstream {

Schedule::Schedule(const VerifierConfig& config, const Rounds& rounds, VerifierCounters& counters)
    : config_(config), rounds_(rounds), counters_(counters), cost_(config.cost), wait_budget_(config.wait_share) {}

// A prompt of several chunks need not wait: its tree is used in the chunk that has the root.
bool Schedule::waits_for_tree(const VerifierSequence& sequence, Time now) const {
  const bool uses_it = sequence.timing().waits_alone || sequence.context.prefill_rows() < config_.step_rows_max;
  return uses_it && rounds_.waits(sequence, now);
}

Ready Schedule::ready(const VerifierSequences& sequences, Time now) const {
  Ready ready;
  for (const auto& sequence : sequences) {
    if (!sequence->running()) continue;
    const bool due = waits_for_tree(*sequence, now);
    if (due && sequence->timing().waits_alone) {
      ready.kept_back = true;
      continue;
    }
    if (due) {
      ready.tree_due = true;
      ready.expected_in = std::max(ready.expected_in, rounds_.expected_in(*sequence, now));
    }
    ready.sequences.push_back(sequence.get());
  }
  return ready;
}

bool Schedule::waits(const Ready& ready, Time now) {
  if (ready.sequences.empty()) {
    waits_since_.reset();
    return true;
  }
  if (ready.tree_due && wait_budget_.allows(now - waits_since_.value_or(now), ready.expected_in)) {
    if (!waits_since_) waits_since_ = now;
    return true;
  }
  counters_.unwaited_steps += ready.tree_due ? 1 : 0;
  waited_ = now - std::exchange(waits_since_, std::nullopt).value_or(now);
  return false;
}

GatherLimits Schedule::limits() const {
  return {.cost = cost_,
          .rows_max = config_.step_rows_max,
          .blocks_max = blocks_of_a_sequence(config_.context_max),
          .context_max = config_.context_max};
}

void Schedule::split_row_budget(const VerifierSequences& sequences) {
  std::vector<VerifierSequence*> takers;
  std::vector<DraftCandidate> candidates;
  StepLoad roots;
  for (const auto& sequence : sequences) {
    const bool root_in_step = sequence->step.root_in_step;
    if (!sequence->running() || (!sequence->decodes() && !root_in_step)) continue;
    roots = roots.with(1, sequence->context.root());
    SequenceDrafting& drafting = sequence->drafting;
    // A budget of another moment could depend on when its tree came, and that on what was sampled
    // in it (adr/0008).
    if (sequence->timing().keeps_budget && drafting.draft.asked && !root_in_step) continue;
    takers.push_back(sequence.get());
    candidates.push_back({.alpha = drafting.rate.alpha(),
                          .nodes_max = std::min<int>(drafting.tuning.nodes_max, 2 * drafting.backoff.nodes_cap()),
                          .visible = sequence->context.root()});
  }
  const std::vector<int> budgets = slipstream::split_row_budget(candidates, roots, cost_);
  for (size_t i = 0; i < takers.size(); ++i) {
    takers[i]->drafting.backoff.set_row_budget(budgets[i]);
    counters_.affordable_nodes.observe(budgets[i]);
  }
}

void Schedule::started(StepLoad load, Time now) {
  load_ = load;
  began_ = now;
  counters_.step_rows += static_cast<uint64_t>(load.rows);
}

void Schedule::ended(Time forward, double accepted_each, Time now) {
  const double seconds = static_cast<double>(forward.count()) * 1e-6;
  ++counters_.steps;
  counters_.waited_seconds += static_cast<double>(waited_.count()) * 1e-6;
  counters_.step_seconds.observe(seconds);
  counters_.cost_error.observe(std::abs(seconds / cost_.forward_seconds(load_) - 1));
  cost_.ran(load_, seconds, static_cast<double>((now - began_).count()) * 1e-6 - seconds);
  wait_budget_.step(waited_, forward, accepted_each);
}

void Schedule::failed() {
  ++counters_.steps;
  ++counters_.failed_steps;
  counters_.waited_seconds += static_cast<double>(waited_.count()) * 1e-6;
}

std::optional<Time> Schedule::next() const {
  return waits_since_ ? std::optional(*waits_since_ + wait_budget_.credit()) : std::nullopt;
}

}  // namespace slipstream
