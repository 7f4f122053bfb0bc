// Runs one step on the target: the only place where the verifier's plan meets the model. On the compute thread.
#pragma once

#include "common/model/target.h"
#include "services/verifier/step_plan.h"

namespace slipstream {

Result<Choices> verify_job(Target& target, const StepPlan& plan);

}  // namespace slipstream
