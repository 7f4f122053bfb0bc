#pragma once

#include <cstdint>
#include <vector>

#include "common/base/ids.h"

namespace slipstream {

// What a verify job returns.
struct Choices {
  std::vector<TokenId> chosen;  // [wanted] the target's token after that row; -1: its logits were not finite
  uint32_t forward_us = 0;
};

}  // namespace slipstream
