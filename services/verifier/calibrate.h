// Measures what steps of this model cost on this machine, before anybody waits for one: the
// beginning of a CostModel.
#pragma once

#include <chrono>

#include "common/base/result.h"
#include "common/engine/cost_model.h"
#include "common/model/language_model.h"

namespace slipstream {

// Sizes are taken in turn, the telling ones first, as often as there is time; the least time of
// each counts. What was not measured lies on the line between its neighbours that were, or on the
// last two's.
inline constexpr std::chrono::milliseconds kCalibrateFor{300};
inline constexpr int32_t kCalibrateContext = 1024;  // positions before the rows that show what attention costs

// Writes garbage into the cache, of that many blocks: call it before the first sequence. An error
// is the model's own.
Result<CostModel> calibrate(LanguageModel& target, int32_t cache_blocks, std::chrono::milliseconds time = kCalibrateFor);

}  // namespace slipstream
