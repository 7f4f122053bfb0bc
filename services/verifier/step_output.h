// What goes into a verify job and what comes back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/ids.h"
#include "common/messages/common.h"
#include "common/model/step_plan.h"
#include "common/sampling/logprobs.h"
#include "common/speculation/rejection/draft_tree.h"
#include "common/speculation/walk.h"

namespace slipstream {

// One sequence whose rule is of the ratio family: its rows' distributions are weighed within the
// job.
struct RejectionTask {
  size_t first_wanted = 0;  // index of the root's row among the wanted ones; the tree's follow
  DraftTree tree;           // empty: the token comes from the root's distribution
  Acceptance acceptance;
  SamplingParams sampling;
  uint64_t seed = 0;  // with the next three: whose luck it is (rejection/random_source.h)
  uint32_t choice = 0;
  Epoch epoch = 0;
  Round round = 0;
};

struct VerifyPlan {
  StepPlan step;
  std::vector<RejectionTask> rejection_tasks;

  void clear() {
    step.clear();
    rejection_tasks.clear();
  }
};

struct RejectionResult {
  Walk walk;
  std::vector<double> spent = {};  // [walk.emitted] total variation, of a biased rule
};

struct StepOutput {
  std::vector<TokenId>
      sampled_tokens;  // [wanted] the target's token after that row; -1: its logits were not finite. Not of judged rows
  std::vector<RejectionResult> rejections;  // [judgements]
  std::vector<TokenLogprob> logprobs;       // [StepPlan::logprobs] of the token behind that row, where the walk comes by
  uint32_t forward_us = 0;
};

}  // namespace slipstream
