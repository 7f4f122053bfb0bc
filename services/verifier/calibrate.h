// Measures at start, before the first request, what steps of this model cost on this machine. The
// result is the first state of a CostModel.
#pragma once

#include <chrono>

#include "common/base/result.h"
#include "common/engine/cost_model.h"
#include "common/model/language_model.h"

namespace slipstream {

// How long the trials go on. They time a step of each number of rows in kCostRows, those that trees
// have first and most often, in an order in which the first few say most. The least time of each
// size counts. A size that was not measured is interpolated between its measured neighbours, or
// extrapolated from the last two.
inline constexpr std::chrono::milliseconds kCalibrateFor{300};
inline constexpr int32_t kCalibrateContext = 1024;  // positions before the rows of the trials that price attention

// Overwrites the cache, which has cache_blocks blocks: call it before the first sequence begins. An
// error is one of the model's run().
Result<CostModel> calibrate(LanguageModel& target, int32_t cache_blocks, std::chrono::milliseconds time = kCalibrateFor);

}  // namespace slipstream
