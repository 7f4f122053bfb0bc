// What goes into a verify job and what comes back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/ids.h"
#include "common/drafting/head_trees.h"
#include "common/messages/common.h"
#include "common/model/step_plan.h"
#include "common/sampling/logprobs.h"
#include "common/speculation/rejection/draft_tree.h"
#include "common/speculation/walk.h"

namespace slipstream {

// One sequence whose rule is of the ratio family. The job itself accepts and rejects the nodes of
// its tree, because that takes the probabilities of the target, which do not leave the job.
struct RejectionTask {
  size_t first_wanted = 0;  // index of the root's row among the wanted rows; those of the tree follow
  DraftTree tree;           // empty: the token comes from the root's distribution
  Acceptance acceptance;
  SamplingParams sampling;
  uint64_t seed = 0;  // with the next three: the key of the random numbers (rejection/random_source.h)
  uint32_t choice = 0;
  Epoch epoch = 0;
  Round round = 0;
};

// A job either verifies a step or, with head_asks, drafts by the target's head. `step` is the job's
// scratch then.
struct VerifyPlan {
  StepPlan step;
  std::vector<RejectionTask> rejection_tasks;
  std::vector<HeadAsk> head_asks;
  std::vector<int32_t> feature_slots;  // whose features are read when the step is computed

  void clear() {
    step.clear();
    rejection_tasks.clear();
    head_asks.clear();
    feature_slots.clear();
  }
};

struct RejectionResult {
  Walk walk;
  std::vector<double> spent = {};  // [walk.emitted] total variation, of a biased rule
};

struct StepOutput {
  // [wanted] the target's token after that row; -1: the row's logits were not finite. Rows of
  // rejection tasks have no meaning here: their tokens are in `rejections`.
  std::vector<TokenId> sampled_tokens;
  std::vector<uint8_t> near_ties = {};      // [wanted] of these tokens (Device::near_ties()), or none
  std::vector<RejectionResult> rejections;  // [rejection_tasks]
  // [StepPlan::logprobs] of the token after that row: a known one after a row of context, else the
  // one that is emitted; empty where the accepted path does not reach the row.
  std::vector<TokenLogprob> logprobs;
  HeadTrees head = {};                  // of a job that drafts
  std::vector<uint16_t> features = {};  // [VerifyPlan::feature_slots, hidden] bf16
  uint32_t forward_us = 0;
};

}  // namespace slipstream
