#include "services/verifier/verify_job.h"

#include <chrono>

namespace slipstream {

Result<Choices> verify_job(LanguageModel& target, const StepPlan& plan) {
  const auto began = std::chrono::steady_clock::now();
  TRY(const auto chosen, target.run(plan.view()));
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began);
  return Choices{.chosen = {chosen.begin(), chosen.end()}, .forward_us = static_cast<uint32_t>(took.count())};
}

}  // namespace slipstream
