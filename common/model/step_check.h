// Checks a Step before it runs: every index is in range, every span has the right length. A device
// trusts its steps, so nothing else checks them.
#pragma once

#include "common/base/result.h"
#include "common/model/ops.h"

namespace slipstream {

struct StepLimits {
  int32_t rows_max = 0, vocabulary = 0;
  int32_t positions = 0;  // of one sequence
  int32_t cache_blocks = 0;
};

// Errors name the field, the row and the limit.
Result<void> check_step(const Step& step, const StepLimits& limits);

}  // namespace slipstream
