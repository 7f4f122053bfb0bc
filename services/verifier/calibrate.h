// Measures at start, before the first request, what steps of this model cost on this machine. The
// result is the first state of a CostModel.
#pragma once

#include <chrono>
#include <functional>

#include "common/base/result.h"
#include "common/engine/cost_model.h"
#include "common/model/language_model.h"

namespace slipstream {

// How long the trials go on, by the least time of each. A trial that another process held up counts
// as one that was not, but all trials together end after kHeldUpMost times as long.
inline constexpr std::chrono::milliseconds kCalibrateFor{300};
inline constexpr int kHeldUpMost = 5;
inline constexpr int32_t kCalibrateContext = 1024;  // positions before the rows of the trials that price attention

// What a step of each number of rows in kCostRows takes, of which at most `room` can be tried. run:
// times one. Those that trees have come first and most often, in an order in which the first few
// say most. One row and four are tried whatever that takes, and twice if they are quick, and a step
// that takes over twice as long as its rows in steps of fewer does not count: no hiccup decides.
// The least time of each size counts; one that was not tried is interpolated between its
// neighbours, or extrapolated from the last two.
Result<StepTimes> time_steps(const std::function<Result<double>(int32_t rows)>& run, int32_t room,
                             std::chrono::duration<double> time);

// Overwrites the cache, which has cache_blocks blocks: call it before the first sequence begins. An
// error is one of the model's run().
Result<CostModel> calibrate(LanguageModel& target, int32_t cache_blocks, std::chrono::milliseconds time = kCalibrateFor);

}  // namespace slipstream
