#include "services/verifier/gather.h"

#include <algorithm>
#include <utility>

#include "common/speculation/tree_rows.h"

namespace slipstream {
namespace {

class Gathering {
 public:
  Gathering(const GatherLimits& limits, SequenceCache& cache, VerifyPlan& plan)
      : limits_(limits), cache_(cache), plan_(plan), pass_(plan.step) {}

  int rows_left() const { return limits_.rows_max - pass_.rows(); }

  // All rows of the streams are in: from now on prompts stay within what those may wait.
  void bound_prompts() {
    step_most_ = std::max(kStallMost, kStallSteps * limits_.cost.seconds(load_of(plan_, limits_.cost.window())));
  }

  // Up to rows_max rows of this sequence: what is left of its prompt, then the root with at most
  // nodes_max nodes of its tree.
  void add(VerifierSequence& sequence, int32_t rows_max, int nodes_max) {
    CachedSequence& context = sequence.context;
    if (prompt_bound(context.cached()) == 0) return;
    const bool begins = !context.holds_blocks();
    const int32_t adopted = begins ? cache_.adopt(context, sequence.output.prompt.skippable()) : 0;
    rows_max = std::min(rows_max, prompt_bound(context.cached()));
    const int32_t prompt_rows = std::min(context.prefill_rows(), rows_max);
    const bool decodes = prompt_rows == context.prefill_rows() && prompt_rows < rows_max;
    BatchSlice slice{.number = sequence.identity.number, .decodes = decodes, .adopted_rows = adopted, .tree = {}};
    const int32_t before_tree = context.cached() + prompt_rows + (decodes ? 1 : 0);
    if (decodes) {
      slice.tree = std::exchange(sequence.drafting.draft.tree, {});
      slice.kinds = std::exchange(sequence.drafting.draft.kinds, {});
      trim(sequence, slice, std::min({nodes_max, rows_max - prompt_rows - 1, budget(sequence, slice.tree.tokens())}));
    }
    // A guess evicts no sequence. For a sampled tree room is reserved for the largest that may
    // come, so that what was sampled in it does not decide whether it has room (adr/0008).
    const int32_t nodes =
        sequence.timing().reserves_whole && !slice.tree.empty() ? sequence.drafting.draft.nodes_asked : slice.tree.size();
    if (!cache_.reserve(context, before_tree + nodes, MayEvict::prefixes)) {
      trim(sequence, slice, 0);
      if (!cache_.reserve(context, before_tree, MayEvict::sequences)) {
        if (begins) context.forget();
        return;
      }
    }
    sequence.step = {.in_step = true, .root_in_step = decodes};
    // The prompt's tokens that were found in the cache when the sequence began. One that was
    // preempted finds its own output there, too.
    if (sequence.output.steps == 0)
      sequence.output.cached_tokens = std::max(sequence.output.cached_tokens, static_cast<uint32_t>(adopted));
    prompt_rows_ += prompt_rows;
    if (decodes) {
      add_tree(sequence, slice, prompt_rows);
    } else {
      slice.rows = pass_.add_context(context, prompt_rows, sequence.output.prompt.wanted());
    }
    if (sequence.drafting.reads_features) read_features(sequence, slice, context.cached() + prompt_rows + (decodes ? 1 : 0));
    slices_.push_back(std::move(slice));
  }

  std::vector<BatchSlice> finish() { return std::move(slices_); }

 private:
  // Rows of one more prompt, from that position on.
  int prompt_bound(int32_t position) const {
    if (!step_most_) return rows_left();
    const int fit = limits_.cost.rows_within(load_of(plan_, limits_.cost.window()), position, rows_left(), *step_most_);
    return std::min(rows_left(), std::max(fit, kPromptRowsLeast - prompt_rows_));
  }

  // No more nodes than the sequence may use now, and none at all if the tree would reach past the
  // model's context (rounds.cpp does not ask for one that does).
  int budget(const VerifierSequence& sequence, const TokenTree& tree) const {
    if (sequence.context.root() + tree.depth() >= limits_.context_max) return 0;
    return sequence.timing().keeps_budget ? sequence.drafting.draft.nodes_asked : sequence.drafting.draft_nodes_max;
  }

  static void trim(VerifierSequence& sequence, BatchSlice& slice, int budget) {
    sequence.fates.trim(slice.kinds, slice.tree.trim(budget));
  }

  // Those of its tokens before `end` that are not known yet, and of its tree: the accepted nodes
  // become tokens.
  void read_features(const VerifierSequence& sequence, BatchSlice& slice, int32_t end) {
    const CachedSequence& context = sequence.context;
    slice.features = {.first = plan_.feature_slots.size(), .from = sequence.drafting.features.end()};
    const int32_t last = std::min(end, slice.features.from + limits_.features_max);
    for (int32_t position = slice.features.from; position < last; ++position) {
      plan_.feature_slots.push_back(context.slot(position));
      ++slice.features.context;
    }
    slice.features.whole = last == end;
    if (!slice.features.whole) return;
    for (int node = 0; node < slice.tree.size(); ++node) plan_.feature_slots.push_back(context.slot(end + node));
  }

  void add_tree(VerifierSequence& sequence, BatchSlice& slice, int32_t prompt_rows) {
    const bool sampled = is_sampled(sequence.spec.acceptance.rule);
    const TokenTree& tokens = slice.tree.tokens();
    std::vector<std::shared_ptr<const RowMask>> masks;
    if (sequence.grammar) masks = sequence.grammar->masks(tokens);
    slice.rows = pass_.add_tree(sequence.context, prompt_rows,
                                {.rows = tree_rows(tokens),
                                 .seed = sequence.spec.seed,
                                 .choice = sequence.spec.choice,
                                 .params = sampled ? kLogitsOnly : sequence.spec.sampling,
                                 .top_logprobs = sequence.spec.top_logprobs,
                                 .masks = masks},
                                sequence.output.prompt.wanted());
    if (!sampled) return;
    slice.rejection_task = static_cast<int>(plan_.rejection_tasks.size());
    plan_.rejection_tasks.push_back({.first_wanted = static_cast<size_t>(slice.rows.first_wanted),
                                     .tree = slice.tree,
                                     .acceptance = sequence.spec.acceptance,
                                     .sampling = sequence.spec.sampling,
                                     .seed = sequence.spec.seed,
                                     .choice = sequence.spec.choice,
                                     .epoch = sequence.identity.epoch,
                                     .round = sequence.drafting.round});
  }

  const GatherLimits& limits_;
  SequenceCache& cache_;
  VerifyPlan& plan_;
  Pass pass_;
  std::vector<BatchSlice> slices_;
  int prompt_rows_ = 0;
  std::optional<double> step_most_;  // seconds; none: no stream waits
};

}  // namespace

std::vector<BatchSlice> gather(std::span<VerifierSequence* const> ready, const GatherLimits& limits, SequenceCache& cache,
                               VerifyPlan& plan) {
  plan.clear();
  plan.step.blocks_max = limits.blocks_max;  // fixed, so that a device can keep the table at one address
  Gathering gathering(limits, cache, plan);
  const auto decodes = [](const VerifierSequence* sequence) { return sequence->decodes(); };
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

// Rows whose logits a rejection rule reads are greedy ones for the model.
StepLoad load_of(const VerifyPlan& plan, int32_t window) {
  StepLoad load = load_of(plan.step, window);
  load.whole_output = load.whole_output || !plan.rejection_tasks.empty();
  return load;
}

}  // namespace slipstream
