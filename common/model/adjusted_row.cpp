#include "common/model/adjusted_row.h"

#include <algorithm>

namespace slipstream {

std::span<const float> adjusted(const Step& step, int32_t wanted, std::span<const float> logits, std::vector<float>& copy) {
  if (step.adjusted.empty()) return logits;
  const auto row = std::ranges::lower_bound(step.adjusted, wanted, {}, &AdjustedRow::wanted);
  if (row == step.adjusted.end() || row->wanted != wanted) return logits;
  copy.assign(logits.begin(), logits.end());
  const auto path = step.path.subspan(static_cast<size_t>(row->path_begin), static_cast<size_t>(row->path_size));
  step.adjusters[static_cast<size_t>(row->adjuster)]->adjust(copy, path);
  return copy;
}

}  // namespace slipstream
