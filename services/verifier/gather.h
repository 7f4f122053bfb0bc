// Which rows the next step has. Roots first (every sequence that decodes moves on), then their
// trees under an equal share of the row budget, then prompt chunks, the oldest sequence's first;
// while a prompt waits, kPromptRowsKept rows are kept from the trees for it. Where streams wait for
// the step, prompts make it no longer than kStallMost, or than kStallSteps of what it takes without
// them if that is more; kPromptRowsLeast rows go on in any case.
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

// One sequence's part of a step, to settle it by.
struct BatchSlice {
  uint64_t life = 0;         // of the sequence
  bool decodes = false;      // has its root in the step; else a chunk of its prompt only
  int32_t adopted_rows = 0;  // taken from the cache, not computed
  PassSlice slice = {};      // its rows, and where their results stand in Choices::chosen and ::logprobs
  DraftTree tree;
  int rejection_task = -1;  // index in the plan, if the rule is of the ratio family
};

struct GatherLimits {
  const CostModel& cost;
  int32_t rows_max = kStepRowsMax;
  int32_t blocks_max = 0;   // width of the plan's block table
  int32_t context_max = 0;  // positions the model has
};

// Fills `plan` (cleared) and gives the slices in the order of its sequences. Takes each tree and
// the pending moves from its sequence; nodes cut from a tree are added to the sequence's report and
// to `trimmed`.
std::vector<BatchSlice> gather(std::span<VerifierSequence* const> ready, const GatherLimits& limits, SequenceCache& cache,
                               VerifyPlan& plan, uint64_t& trimmed);

}  // namespace slipstream
