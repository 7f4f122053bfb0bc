#include "services/verifier/verify_job.h"

#include <chrono>
#include <span>
#include <vector>

namespace slipstream {
namespace {

// Of the rows that the walk reaches: a node is reached if it is what was chosen after a row that is. The others' stay empty.
std::vector<TokenLogprob> read_logprobs(const LanguageModel& target, const StepPlan& plan, std::span<const TokenId> chosen) {
  const auto vocabulary = static_cast<size_t>(target.config().vocabulary);
  std::vector<TokenLogprob> logprobs(plan.logprobs.size());
  std::vector<TokenId> follows(plan.logprobs.size(), -1);  // the token chosen after that row, if it is reached
  ChainScratch scratch;
  for (size_t i = 0; i < plan.logprobs.size(); ++i) {
    const LogprobRow& row = plan.logprobs[i];
    const auto wanted = static_cast<size_t>(row.wanted);
    const TokenId token = plan.token[static_cast<size_t>(plan.wanted[wanted])];
    if (row.parent >= 0 && follows[static_cast<size_t>(row.parent)] != token) continue;
    follows[i] = chosen[wanted];
    logprobs[i] = logprob_of(target.logits().subspan(wanted * vocabulary, vocabulary), chosen[wanted], row.top, scratch);
  }
  return logprobs;
}

}  // namespace

Result<Choices> verify_job(LanguageModel& target, const StepPlan& plan) {
  const auto began = std::chrono::steady_clock::now();
  TRY(const auto chosen, target.run(plan.view()));
  Choices choices{.chosen = {chosen.begin(), chosen.end()}, .logprobs = read_logprobs(target, plan, chosen)};
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began);
  choices.forward_us = static_cast<uint32_t>(took.count());
  return choices;
}

}  // namespace slipstream
