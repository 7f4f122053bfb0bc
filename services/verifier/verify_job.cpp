#include "services/verifier/verify_job.h"

#include <chrono>

namespace slipstream {

Result<Choices> verify_job(LanguageModel& target, const StepPlan& plan) {
  const auto began = std::chrono::steady_clock::now();
  TRY(const auto chosen, target.run(plan.view()));
  Choices choices{.chosen = {chosen.begin(), chosen.end()}, .logprobs = {}};
  const auto vocabulary = static_cast<size_t>(target.config().vocabulary);
  ChainScratch scratch;
  for (const LogprobRow& row : plan.logprobs) {
    const auto at = static_cast<size_t>(row.wanted);
    choices.logprobs.push_back(logprob_of(target.logits().subspan(at * vocabulary, vocabulary), chosen[at], row.top, scratch));
  }
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began);
  choices.forward_us = static_cast<uint32_t>(took.count());
  return choices;
}

}  // namespace slipstream
