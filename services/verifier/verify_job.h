// Runs one step on the target: the only place where the verifier's plan meets the model. On the compute thread.
#pragma once

#include "common/model/language_model.h"
#include "common/model/step_plan.h"
#include "services/verifier/choices.h"

namespace slipstream {

Result<Choices> verify_job(LanguageModel& target, const StepPlan& plan);

}  // namespace slipstream
