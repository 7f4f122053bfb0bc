// Which rows the next step has, in this order:
//   1. the root of every sequence that decodes, so that each moves on;
//   2. their trees, each under the least of an equal share of the step's rows and what its sequence
//      may use now. (schedule.h has cut them to the nodes that pay.) While a prompt waits,
//      kPromptRowsKept rows are kept from the trees for it;
//   3. chunks of prompts, the oldest sequence's first. Where other sequences decode, prompts may
//      lengthen the step to max(kStallMost, kStallSteps times its duration without them), and
//      kPromptRowsLeast prompt rows always go (all within the step's rows that are left).
#pragma once

#include <span>
#include <vector>

#include "common/engine/cost_model.h"
#include "common/engine/pass.h"
#include "common/engine/sequence_cache.h"
#include "services/verifier/sequence.h"
#include "services/verifier/step_output.h"

namespace slipstream {

inline constexpr int kPromptRowsKept = 64;
inline constexpr int kPromptRowsLeast = 16;
inline constexpr double kStallMost = 0.05;  // seconds
inline constexpr double kStallSteps = 2;

// A sequence's features among those that a step reads: of positions [from, from + context), then
// those of the nodes of its tree.
struct FeatureRows {
  size_t first = 0;                // index in VerifyPlan::feature_slots
  int32_t from = -1, context = 0;  // from: -1: none are read
  bool whole = true;               // false: a later step reads the rest, and those of the tree
};

// One sequence's part of a step.
struct BatchSlice {
  uint64_t number = 0;       // of the sequence
  bool decodes = false;      // its root is in the step; else a chunk of its prompt only
  int32_t adopted_rows = 0;  // taken from the prefix cache, not computed
  PassSlice rows = {};       // where its rows stand in the pass, and their results in the StepOutput
  DraftTree tree;
  std::vector<KindIndex> kinds = {};  // [tree.size()] whose nodes they are (fates.h)
  int rejection_task = -1;            // index in the plan, if its rule samples from q
  FeatureRows features = {};
};

struct GatherLimits {
  const CostModel& cost;
  int32_t rows_max = kCpuStepRows;
  int32_t blocks_max = 0;    // width of the plan's block table
  int32_t context_max = 0;   // positions the model has
  int32_t features_max = 0;  // that are read for one sequence
};

// Fills `plan` (cleared first) and returns the slices in the order in which the plan has them. A
// sequence whose rows find no room in the cache is left out. Takes each tree and the pending moves
// from its sequence; nodes that are cut from a tree are settled as trimmed (fates.h has the
// reasons).
std::vector<BatchSlice> gather(std::span<VerifierSequence* const> ready, const GatherLimits& limits, SequenceCache& cache,
                               VerifyPlan& plan);

// What a step of the plan has to compute; window: positions that a row sees at most, 0: all.
StepLoad load_of(const VerifyPlan& plan, int32_t window);

}  // namespace slipstream
