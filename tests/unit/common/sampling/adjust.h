// A row of logits as a request's logits processor leaves it.
#pragma once

#include <span>

#include "common/sampling/logits_processor.h"

namespace slipstream {

inline void adjust(const LogitsProcessor& processor, std::span<float> logits, std::span<const TokenId> path = {}) {
  RowEdits edits;
  edits.begin(static_cast<int32_t>(logits.size()));
  processor.edit(path, edits);
  edits.apply(logits);
}

inline void allow_only(const TokenMask& mask, std::span<float> logits) {
  RowEdits edits;
  edits.begin(static_cast<int32_t>(logits.size()));
  edits.allow_only(mask);
  edits.apply(logits);
}

}  // namespace slipstream
