// Runs one step on the target: the only place where the verifier's plan meets the model. On the compute thread.
#pragma once

#include "common/model/language_model.h"
#include "common/speculation/rejection/accept.h"
#include "services/verifier/choices.h"

namespace slipstream {

// Buffers reused from step to step.
struct VerifyScratch {
  ChainScratch chain;
  AcceptScratch accept;
  std::vector<OwnedDistribution> laws;
  std::vector<float> adjusted;  // one row
};

// logits: [judged rows, vocabulary] of the root and of each node of its tree. step: says which of them are adjusted.
Judged judge(const Judgement& judgement, const Step& step, std::span<const float> logits, VerifyScratch& scratch);

Result<Choices> verify_job(LanguageModel& target, const VerifyPlan& plan, VerifyScratch& scratch);

}  // namespace slipstream
