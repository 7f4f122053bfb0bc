#include "services/verifier/schedule.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/engine/row_budget.h"
#include "common/kv/block_table.h"
#include "common/speculation/worth_waiting.h"

namespace slipstream {

Schedule::Schedule(const VerifierConfig& config, Rounds& rounds, VerifierCounters& counters)
    : config_(config), rounds_(rounds), counters_(counters), cost_(config.cost), wait_budget_(config.wait_share) {}

// A prompt of several chunks need not wait: its tree is used in the chunk that has the root.
std::vector<AwaitedTree> Schedule::awaited(const VerifierSequence& sequence, Time now) const {
  const bool uses_it = sequence.timing().waits_alone || sequence.context.prefill_rows() < config_.step_rows_max;
  return uses_it ? rounds_.awaited(sequence, now) : std::vector<AwaitedTree>();
}

void Schedule::add_root(const VerifierSequence& sequence, StepLoad& roots) const {
  roots = roots.with(1, cost_.seen(sequence.context.root()));
  roots.whole_output = roots.whole_output || sequence.reads_whole_output();
}

Ready Schedule::ready(const VerifierSequences& sequences, Time now) const {
  Ready ready;
  StepLoad roots;
  std::vector<DueTree> due_trees;
  std::vector<KindIndex> kinds;  // [due_trees]
  for (const auto& sequence : sequences) {
    if (!sequence->running()) continue;
    if (sequence->follows) {
      ready.kept_back = true;
      continue;
    }
    const std::vector<AwaitedTree> trees = awaited(*sequence, now);
    if (!trees.empty() && sequence->timing().waits_alone) {
      ready.kept_back = true;
      continue;
    }
    for (const AwaitedTree& tree : trees) {
      if (now + tree.in > tree.ends) continue;
      ready.trees_due |= tree.leads;
      // One that the credit does not last for is no reason to wait, nor one to miss those
      // before it.
      if (!wait_budget_.allows(now - waits_since_.value_or(now), tree.in)) continue;
      due_trees.push_back({tree.in, tree.gain});
      kinds.push_back(tree.kind);
    }
    if (sequence->decodes()) add_root(*sequence, roots);
    ready.sequences.push_back(sequence.get());
  }
  // An operator who lets steps wait longer than usual values the tokens less that a wait costs.
  const double weight = std::min(1.0, kWaitShare / config_.wait_share);
  ready.plain_seconds = roots.rows > 0 ? cost_.seconds(roots) : 0;
  ready.wait_for = worth_waiting(due_trees, roots.rows > 0 ? weight * roots.rows / ready.plain_seconds : 0);
  if (ready.wait_for) {
    const auto last = std::ranges::find(due_trees, *ready.wait_for, &DueTree::in);
    ready.awaited = kinds[static_cast<size_t>(last - due_trees.begin())];
  }
  return ready;
}

void Schedule::count_wait(Time now) {
  if (!waits_since_) return;
  counters_.draft_kinds[awaited_].waited_seconds += std::chrono::duration<double>(now - looked_).count();
}

bool Schedule::waits(const Ready& ready, Time now) {
  count_wait(now);
  looked_ = now;
  awaited_ = ready.awaited;
  if (ready.sequences.empty()) {
    waits_since_.reset();
    return true;
  }
  if (ready.wait_for && wait_budget_.allows(now - waits_since_.value_or(now), *ready.wait_for)) {
    if (!waits_since_) waits_since_ = now;
    return true;
  }
  counters_.unwaited_steps += ready.trees_due ? 1 : 0;
  waited_ = now - std::exchange(waits_since_, std::nullopt).value_or(now);
  return false;
}

GatherLimits Schedule::limits() const {
  return {.cost = cost_,
          .rows_max = config_.step_rows_max,
          .blocks_max = blocks_of_a_sequence(config_.context_max),
          .context_max = config_.context_max,
          .features_max = kFeatureNumbersAStep / std::max(config_.features.numbers, 1)};
}

void Schedule::cut_trees(std::span<VerifierSequence* const> ready) {
  std::vector<VerifierSequence*> holders;
  std::vector<std::vector<int32_t>> orders;  // [holders] nodes, the most valuable first
  std::vector<std::vector<int32_t>> stay;    // [holders] nodes that stay, first those that are verified whatever they gain
  std::vector<DraftCandidate> candidates;    // [holders]
  StepLoad roots;
  for (VerifierSequence* sequence : ready) {
    const DraftTree& tree = sequence->drafting.draft.tree;
    if (!sequence->decodes() && tree.empty()) continue;  // of a prompt that ends in this step the tree is there
    add_root(*sequence, roots);
    if (sequence->timing().keeps_budget || tree.empty()) continue;
    std::vector<float> gains;
    for (const TreeNode& node : tree.nodes()) gains.push_back(node.survival);
    stay.push_back(rounds_.probes(*sequence));
    const int most = std::max(sequence->drafting.draft_nodes_max - static_cast<int>(stay.back().size()), 0);
    holders.push_back(sequence);
    orders.push_back(best_first(gains));
    orders.back().resize(std::min(gains.size(), static_cast<size_t>(most)));
    DraftCandidate& candidate =
        candidates.emplace_back(DraftCandidate{.gains = {}, .visible = cost_.seen(sequence->context.root())});
    for (const int32_t node : orders.back()) candidate.gains.push_back(gains[static_cast<size_t>(node)]);
  }
  const std::vector<int> kept = split_row_budget(candidates, roots, cost_);
  for (size_t i = 0; i < holders.size(); ++i) {
    counters_.affordable_nodes.observe(kept[i]);
    if (config_.head_rule) continue;  // to be compared with: all that it drafts is verified
    stay[i].insert(stay[i].end(), orders[i].begin(), orders[i].begin() + kept[i]);
    DraftRound& draft = holders[i]->drafting.draft;
    holders[i]->fates.trim(draft.kinds, draft.tree.keep(stay[i]));
  }
}

void Schedule::set_prices(const VerifierSequences& sequences) {
  std::vector<VerifierSequence*> takers, keepers;
  StepLoad roots;
  for (const auto& sequence : sequences) {
    const bool root_in_step = sequence->step.root_in_step;
    if (!sequence->running() || (!sequence->decodes() && !root_in_step)) continue;
    add_root(*sequence, roots);
    const SequenceDrafter* lead = sequence->drafting.lead();
    if (!sequence->timing().keeps_budget || rounds_.head_samples(*sequence)) {
      takers.push_back(sequence.get());
    } else if (lead != nullptr && (!lead->ask.asked || root_in_step)) {
      // A budget of another moment could depend on when its tree came, and that on what was sampled
      // in it (adr/0008).
      keepers.push_back(sequence.get());
    }
  }
  for (VerifierSequence* sequence : takers) {
    counters_.node_price = node_price(roots, cost_.seen(sequence->context.root()), cost_);
    rounds_.set_price(*sequence, static_cast<float>(counters_.node_price));
  }
  std::vector<DraftCandidate> candidates;
  for (const VerifierSequence* sequence : keepers) {
    const SequenceDrafting& drafting = sequence->drafting;
    const SequenceDrafter& lead = *drafting.lead();
    const int most = std::min(drafting.nodes_bound(lead), 2 * lead.backoff.nodes_cap());
    candidates.push_back({.gains = chain_gains(drafting.rate.alpha(), most), .visible = cost_.seen(sequence->context.root())});
  }
  const std::vector<int> budgets = split_row_budget(candidates, roots, cost_);
  for (size_t i = 0; i < keepers.size(); ++i) {
    keepers[i]->drafting.lead()->backoff.set_row_budget(budgets[i]);
    counters_.affordable_nodes.observe(budgets[i]);
  }
}

void Schedule::started(StepLoad load, StepKind kind, Time now) {
  load_ = load;
  kind_ = kind;
  began_ = now;
  counters_.step_rows += static_cast<uint64_t>(load.rows);
}

void Schedule::ended(Time forward, double accepted_each, Time now) {
  const double seconds = static_cast<double>(forward.count()) * 1e-6;
  ++counters_.steps;
  counters_.step_seconds.observe(seconds);
  if (kind_ == StepKind::usual) {
    counters_.cost_error.observe(std::abs(seconds / cost_.forward_seconds(load_) - 1));
    cost_.ran(load_, seconds, static_cast<double>((now - began_).count()) * 1e-6 - seconds);
  }
  wait_budget_.step(waited_, forward, accepted_each);
}

void Schedule::failed() {
  ++counters_.steps;
  ++counters_.failed_steps;
}

std::optional<Time> Schedule::next() const {
  return waits_since_ ? std::optional(*waits_since_ + wait_budget_.credit()) : std::nullopt;
}

}  // namespace slipstream
