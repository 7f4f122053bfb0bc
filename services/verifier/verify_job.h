// Runs one step on the target: the only place where the verifier's plan meets the model. On the compute thread.
#pragma once

#include "common/model/language_model.h"
#include "common/speculation/accept.h"
#include "services/verifier/choices.h"

namespace slipstream {

// Buffers reused from step to step.
struct VerifyScratch {
  ChainScratch chain;
  AcceptScratch accept;
  std::vector<OwnLaw> laws;
};

// logits: [judged rows, vocabulary] of the root and of each node of its tree.
Judged judge(const Judgement& judgement, std::span<const float> logits, VerifyScratch& scratch);

Result<Choices> verify_job(LanguageModel& target, const VerifyPlan& plan, VerifyScratch& scratch);

}  // namespace slipstream
