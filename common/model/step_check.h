// Whether a Step can be run at all, before anything is touched: every index in range, every span of
// the right length.
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
