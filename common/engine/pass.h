// Lays out sequences as the rows of one forward pass. It fills a StepPlan, which a LanguageModel
// runs:
//
//   Pass pass(plan);                                                        // a cleared plan whose blocks_max is set
//   const PassSlice chunk = pass.add_context(first, 40);                    // 40 rows of a prompt
//   const PassSlice tree = pass.add_tree(second, 0, {.rows = tree_rows(draft), .seed = seed, .params = sampling});
//   TRY(const auto sampled, model.run(plan.view()));
//   first.computed(chunk.context_rows);
//
// A sequence that is added gives the pass its pending moves, which the model does first. Its blocks
// must have room for the rows (sequence_cache.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/engine/cached_sequence.h"
#include "common/engine/cost_model.h"
#include "common/model/step_plan.h"
#include "common/sampling/params.h"
#include "common/speculation/tree_rows.h"

namespace slipstream {

// Where one sequence's rows stand in a pass.
struct PassSlice {
  int32_t context_rows = 0;
  int32_t first_wanted = 0;   // of a tree: index among the wanted rows of its first row in this pass; the others follow
  int32_t first_logprob = 0;  // of a tree with logprobs: the same in StepPlan::logprobs
};

// A tree behind a sequence, or those of its rows that this pass computes. The logits of each are
// wanted.
struct PassTree {
  std::span<const TreeRow> rows;             // all rows so far, the root first
  size_t first = 0;                          // rows before it were computed by earlier passes
  uint64_t seed = 0;                         // with `choice`, of the request
  uint32_t choice = 0;                       // index among its choices
  SamplingParams params = {};                // how the token after a row is sampled
  std::optional<int32_t> top_logprobs = {};  // alternatives wanted for each token; none: no logprobs. Needs first == 0
};

class Pass {
 public:
  explicit Pass(StepPlan& plan) : plan_(plan) {}

  int rows() const { return plan_.rows(); }

  // The next `rows` positions of the sequence's context, none of them the root.
  PassSlice add_context(CachedSequence& sequence, int32_t rows);
  // The same, and behind them the tree. The rows before the root are computed by this pass or were
  // before.
  PassSlice add_tree(CachedSequence& sequence, int32_t context_rows, const PassTree& tree);

 private:
  int32_t begin(CachedSequence& sequence, int32_t context_rows);  // the index of its block table

  StepPlan& plan_;
};

// What the pass costs (cost_model.h).
StepLoad load_of(const StepPlan& plan);

}  // namespace slipstream
