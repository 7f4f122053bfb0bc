// Lays out sequences as the rows of one forward pass. It fills a StepPlan, which a LanguageModel
// runs:
//
//   Pass pass(plan);                                                        // a cleared plan whose blocks_max is set
//   const PassSlice chunk = pass.add_context(first, 40);                    // 40 rows of a prompt
//   const PassSlice tree = pass.add_tree(second, 0, {.rows = tree_rows(draft), .seed = seed, .params = sampling});
//   TRY(const auto sampled, model.run(plan.view()));
//   first.computed(chunk.context_rows);
//
// add_*() takes the sequence's pending moves into the pass, and the model does them before the
// forward pass. REQUIRES (unchecked): the sequence has blocks for the rows
// (SequenceCache::reserve).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/engine/cached_sequence.h"
#include "common/engine/cost_model.h"
#include "common/model/step_plan.h"
#include "common/sampling/params.h"
#include "common/speculation/tree_rows.h"

namespace slipstream {

// The batch slice of one sequence: where its rows stand in the pass. The tree's rows are neighbours
// among the wanted rows.
struct PassSlice {
  int32_t context_rows = 0;
  int32_t scored = 0;         // tokens whose logprobs the context rows give
  int32_t first_scored = 0;   // index in StepPlan::logprobs of the first of these
  int32_t first_wanted = 0;   // index of the tree's first row among the wanted rows
  int32_t first_logprob = 0;  // index of the tree's first row in StepPlan::logprobs, if it has any
};

// Tokens of a sequence whose logprobs are wanted: those at positions [first, end), as far as the
// rows before them are context rows of the pass.
struct ScoredTokens {
  int32_t first = 0, end = 0;
  int32_t top = 0;  // alternatives for each
};

// A tree behind a sequence. The pass computes its rows from `first` on, and wants the logits of
// each.
struct PassTree {
  std::span<const TreeRow> rows;             // all rows, the root first
  size_t first = 0;                          // earlier passes computed the rows before it
  uint64_t seed = 0;                         // of the request
  uint32_t choice = 0;                       // index among the request's choices
  SamplingParams params = {};                // how the token after a row is sampled
  std::optional<int32_t> top_logprobs = {};  // alternatives for each token; unset: no logprobs. Needs first == 0
  // [rows] the tokens that a grammar allows after each row, null where nobody asks; empty: no
  // grammar.
  std::span<const std::shared_ptr<const RowMask>> masks = {};
};

// What a tree hangs from, as values: a job on another thread lays out rows of a sequence that may
// end meanwhile. Whoever takes one runs a pass with it, which does the sequence's pending moves,
// and then says sequence.computed(0).
struct TreeBase {
  std::vector<int32_t> blocks;
  std::vector<KvMove> moves;  // done by the next pass
  TokenId token = 0;          // the root
  int32_t root = 0;           // its position
  int32_t output = 0;         // tokens behind the prompt, the root included
  std::shared_ptr<const LogitsProcessor> logits_processor;
};
// REQUIRES: no position before the root is missing.
TreeBase take_base(CachedSequence& sequence);

class Pass {
 public:
  explicit Pass(StepPlan& plan) : plan_(plan) {}

  int rows() const { return plan_.rows(); }

  // Adds the next `rows` positions of the sequence's context, all before the root.
  PassSlice add_context(CachedSequence& sequence, int32_t rows, const ScoredTokens& scored = {});
  // Adds the next `context_rows` positions and the tree behind them. REQUIRES (unchecked): no
  // position before the root is missing then.
  PassSlice add_tree(CachedSequence& sequence, int32_t context_rows, const PassTree& tree, const ScoredTokens& scored = {});
  PassSlice add_tree(TreeBase& base, const PassTree& tree);

 private:
  struct Root;

  int32_t begin(CachedSequence& sequence, PassSlice& slice, const ScoredTokens& scored);  // the index of its block table
  void add_rows(int32_t table, const Root& root, const PassTree& tree, PassSlice& slice);

  StepPlan& plan_;
};

// What the pass has to compute, for cost_model.h. window: positions that a row sees at most; 0:
// all.
StepLoad load_of(const StepPlan& plan, int32_t window = 0);

}  // namespace slipstream
