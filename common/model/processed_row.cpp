#include "common/model/processed_row.h"

#include <algorithm>
#include <limits>

namespace slipstream {

// Processes a copy, because logprobs are computed from the model's own logits afterwards.
std::span<const float> processed(const Step& step, int32_t wanted, std::span<const float> logits, std::vector<float>& copy) {
  if (step.processed.empty()) return logits;
  const auto row = std::ranges::lower_bound(step.processed, wanted, {}, &ProcessedRow::wanted);
  if (row == step.processed.end() || row->wanted != wanted) return logits;
  copy.assign(logits.begin(), logits.end());
  const auto path = step.path.subspan(static_cast<size_t>(row->path_begin), static_cast<size_t>(row->path_size));
  if (row->logits_processor >= 0) step.logits_processors[static_cast<size_t>(row->logits_processor)]->adjust(copy, path);
  if (row->mask >= 0) {
    const TokenMask* allowed = step.masks[static_cast<size_t>(row->mask)]->get();
    // A token that the grammar may forbid must not be chosen: the row is refused.
    if (allowed == nullptr) std::ranges::fill(copy, std::numeric_limits<float>::quiet_NaN());
    if (allowed != nullptr) allow_only(copy, *allowed);
  }
  return copy;
}

}  // namespace slipstream
