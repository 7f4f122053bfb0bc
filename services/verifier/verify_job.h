// Runs one step on the target, or a draft by its head: the only place where the verifier's plan
// meets the model. On the compute thread.
#pragma once

#include "common/model/language_model.h"
#include "common/model/processed_row.h"
#include "common/speculation/rejection/accept.h"
#include "services/verifier/step_output.h"

namespace slipstream {

// Buffers reused from step to step.
struct VerifyScratch {
  VerifyScratch() = default;
  explicit VerifyScratch(const LanguageModel& target) : extra(target) {}

  ChainScratch chain;
  AcceptScratch accept;
  std::vector<OwnedDistribution> distributions;
  ProcessedScratch processed;
  ExtraTokens extra;  // of drafts by the target's head
};

// logits: [rows of the task, vocabulary] of the root and of each node of its tree. step: says which
// of them are adjusted.
RejectionResult accept_in_job(const RejectionTask& rejection_task, const Step& step, std::span<const float> logits,
                              VerifyScratch& scratch);

// The same of all tasks of the step that the target ran last, weighed by the device if it can.
// Error: the device's.
Result<std::vector<RejectionResult>> accept_all(LanguageModel& target, const Step& step, std::span<const RejectionTask> tasks,
                                                VerifyScratch& scratch);

Result<StepOutput> verify_job(LanguageModel& target, VerifyPlan& plan, VerifyScratch& scratch);

}  // namespace slipstream
