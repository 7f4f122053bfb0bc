#include "services/verifier/gather.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/speculation/tree_mask.h"

namespace slipstream {
namespace {

class Gathering {
 public:
  Gathering(const GatherLimits& limits, const CacheRoom& room, VerifyPlan& plan, uint64_t& trimmed)
      : limits_(limits), room_(room), plan_(plan), step_(plan.step), trimmed_(trimmed) {}

  int rows_left() const { return limits_.rows_max - step_.rows(); }

  // All rows of the streams are in: from now on prompts stay within what those may wait.
  void bound_prompts() { step_most_ = std::max(kStallMost, kStallSteps * limits_.cost.seconds(load_of(step_))); }

  // Up to rows_max rows of this sequence: what is left of its prompt, then the root with at most nodes_max nodes of its tree.
  void add(VerifierSequence& sequence, int32_t rows_max, int nodes_max) {
    if (prompt_bound(sequence.cached) == 0) return;
    const bool begins = sequence.table.blocks().empty();
    if (begins) room_.adopt(sequence);
    rows_max = std::min(rows_max, prompt_bound(sequence.cached));
    const int32_t adopted = begins ? sequence.cached : 0;
    const int32_t prompt_rows = std::min(sequence.prompt_rows_left(), rows_max);
    const bool decodes = prompt_rows == sequence.prompt_rows_left() && prompt_rows < rows_max;
    Lane lane{.life = sequence.life, .decodes = decodes, .prompt_rows = prompt_rows, .adopted_rows = adopted, .tree = {}};
    const int32_t before_tree = sequence.cached + prompt_rows + (decodes ? 1 : 0);
    if (decodes) {
      lane.tree = std::exchange(sequence.draft.tree, {});
      trim(sequence, lane.tree, std::min({nodes_max, rows_max - prompt_rows - 1, budget(sequence, lane.tree)}));
    }
    // A guess evicts nobody. Whether there is room for one must not depend on what was drawn, so room is made for any.
    const int32_t nodes = sequence.drawn() && !lane.tree.empty() ? sequence.nodes_max() : lane.tree.size();
    if (!room_.reserve(sequence, before_tree + nodes, false)) {
      trim(sequence, lane.tree, 0);
      if (!room_.reserve(sequence, before_tree, true)) {
        if (begins) room_.give_up(sequence);
        return;
      }
    }
    sequence.in_step = true;
    sequence.root_in_step = decodes;
    prompt_rows_ += prompt_rows;
    add_rows(sequence, lane);
    lanes_.push_back(std::move(lane));
  }

  std::vector<Lane> finish() { return std::move(lanes_); }

 private:
  // Rows of one more prompt, from that position on.
  int prompt_bound(int32_t position) const {
    if (!step_most_) return rows_left();
    const int fit = limits_.cost.rows_within(load_of(step_), position, rows_left(), *step_most_);
    return std::min(rows_left(), std::max(fit, kPromptRowsLeast - prompt_rows_));
  }

  // No more than the tuning in force asks for, and nothing at all if the tree would reach past the model's context (it was not
  // asked to: drafting.cpp).
  int budget(const VerifierSequence& sequence, const TokenTree& tree) const {
    return sequence.root() + tree.depth() < limits_.context_max ? sequence.nodes_max() : 0;
  }

  void trim(VerifierSequence& sequence, DraftTree& tree, int budget) {
    const auto before = static_cast<uint32_t>(tree.size());
    tree.trim(budget);
    const uint32_t cut = before - static_cast<uint32_t>(tree.size());
    sequence.report.trimmed += cut;
    sequence.report.held -= cut;
    trimmed_ += cut;
  }

  void add_rows(VerifierSequence& sequence, Lane& lane) {
    step_.moves.insert(step_.moves.end(), sequence.moves.begin(), sequence.moves.end());
    sequence.moves.clear();
    const int32_t lane_index = step_.add_sequence(sequence.table.blocks());

    for (int32_t i = 0; i < lane.prompt_rows; ++i) {
      const int32_t position = sequence.cached + i;
      step_.add({.token = sequence.tokens[static_cast<size_t>(position)],
                 .position = position,
                 .slot = sequence.table.slot(position),
                 .sequence = lane_index,
                 .visible = position + 1});
    }
    if (lane.decodes) add_tree(sequence, lane, lane_index);
  }

  void add_tree(const VerifierSequence& sequence, Lane& lane, int32_t lane_index) {
    const bool judged = sequence.drawn();
    const int32_t root = sequence.root();
    const std::vector<uint64_t> mask = tree_mask(lane.tree);
    lane.first_wanted = static_cast<int>(step_.wanted.size());
    lane.first_logprob = static_cast<int>(step_.logprobs.size());
    const int32_t adjuster = sequence.adjuster ? step_.add_adjuster(sequence.adjuster) : -1;
    const auto drafted = [&](int row) { return lane.tree.nodes()[static_cast<size_t>(row - 1)].token; };
    for (int row = 0; row <= lane.tree.size(); ++row) {
      const int32_t depth = row == 0 ? 0 : lane.tree.depth(row - 1);
      const TokenId token = row == 0 ? sequence.tokens.back() : drafted(row);
      step_.add({.token = token,
                 .position = root + depth,
                 .slot = sequence.table.slot(root + row),
                 .sequence = lane_index,
                 .visible = root,
                 .ancestors = mask[static_cast<size_t>(row)]});
      RowSampling sampling = sequence.spec.row(sequence.output() + depth);
      if (judged) sampling.params = kLawAlone;
      step_.want(sampling);
      if (sequence.spec.top_logprobs) {
        const int32_t parent = row == 0 ? -1 : lane.first_logprob + lane.tree.nodes()[static_cast<size_t>(row - 1)].parent + 1;
        step_.logprobs.push_back({.wanted = lane.first_wanted + row, .parent = parent, .top = *sequence.spec.top_logprobs});
      }
      if (adjuster >= 0) step_.adjust(adjuster, mask[static_cast<size_t>(row)], drafted);
    }
    if (!judged) return;
    lane.judgement = static_cast<int>(plan_.judgements.size());
    plan_.judgements.push_back({.first_wanted = static_cast<size_t>(lane.first_wanted),
                                .tree = lane.tree,
                                .acceptance = sequence.spec.acceptance,
                                .sampling = sequence.spec.sampling,
                                .seed = sequence.spec.seed,
                                .choice = sequence.spec.choice,
                                .epoch = sequence.epoch,
                                .round = sequence.round});
  }

  const GatherLimits& limits_;
  const CacheRoom& room_;
  VerifyPlan& plan_;
  StepPlan& step_;
  uint64_t& trimmed_;
  std::vector<Lane> lanes_;
  int prompt_rows_ = 0;
  std::optional<double> step_most_;  // seconds; none: no stream waits
};

}  // namespace

StepLoad load_of(const StepPlan& plan) {
  StepLoad load{.rows = plan.rows()};
  int32_t seen = 0;  // by the rows so far of this sequence, which stand side by side
  for (size_t row = 0; row < plan.visible.size(); ++row) {
    load.pairs += plan.visible[row];
    seen = std::max(seen, plan.visible[row] + static_cast<int32_t>(std::bit_width(plan.ancestors[row])));
    const bool last = row + 1 == plan.visible.size() || plan.sequence[row + 1] != plan.sequence[row];
    if (last) load.reads += std::exchange(seen, 0);
  }
  return load;
}

std::vector<Lane> gather(std::span<VerifierSequence* const> ready, const GatherLimits& limits, const CacheRoom& room,
                         VerifyPlan& plan, uint64_t& trimmed) {
  plan.clear();
  plan.step.blocks_max = limits.blocks_max;  // fixed, so that a device can keep the table at one address
  Gathering gathering(limits, room, plan, trimmed);
  const auto decodes = [](const VerifierSequence* sequence) { return sequence->prompt_rows_left() == 0; };
  const auto decoding = static_cast<int>(std::ranges::count_if(ready, decodes));
  const bool prompts_wait = decoding < static_cast<int>(ready.size());
  if (decoding > 0) {
    const int kept = prompts_wait ? std::min(kPromptRowsKept, limits.rows_max / 2) : 0;
    const int nodes_each = std::max(0, (limits.rows_max - kept - decoding) / decoding);
    for (VerifierSequence* sequence : ready) {
      if (decodes(sequence) && gathering.rows_left() > 0) gathering.add(*sequence, gathering.rows_left(), nodes_each);
    }
    gathering.bound_prompts();
  }
  for (VerifierSequence* sequence : ready) {
    if (!decodes(sequence) && gathering.rows_left() > 0) gathering.add(*sequence, gathering.rows_left(), kTreeNodesMax);
  }
  return gathering.finish();
}

}  // namespace slipstream
