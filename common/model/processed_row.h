// The logits that a wanted row's token is sampled from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/model/ops.h"

namespace slipstream {

// Applies the wanted row's logits processor and mask, if the step has any for it. Returns the
// result, which lies in `copy` (it grows once), or `logits` themselves; NaN, so that the row is
// refused, if it is not known what its mask allows. Waits for the mask if another thread makes it.
// logits: [vocabulary] of the row.
std::span<const float> processed(const Step& step, int32_t wanted, std::span<const float> logits, std::vector<float>& copy);

}  // namespace slipstream
