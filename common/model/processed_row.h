// The logits that a wanted row's token is chosen from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/model/ops.h"

namespace slipstream {

// logits: [vocabulary] of that wanted row. They come back as they are if the step does not adjust
// them, else what its adjuster makes of them in `copy`, which grows once.
std::span<const float> processed(const Step& step, int32_t wanted, std::span<const float> logits, std::vector<float>& copy);

}  // namespace slipstream
