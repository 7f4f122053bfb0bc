#pragma once

#include <cstdint>
#include <vector>

#include "common/base/ids.h"
#include "common/sampling/logprobs.h"

namespace slipstream {

// What a verify job returns.
struct Choices {
  std::vector<TokenId> chosen;         // [wanted] the target's token after that row; -1: its logits were not finite
  std::vector<TokenLogprob> logprobs;  // [StepPlan::logprobs] of the token chosen there, where the walk comes by
  uint32_t forward_us = 0;
};

}  // namespace slipstream
