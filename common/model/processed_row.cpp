#include "common/model/processed_row.h"

#include <algorithm>

namespace slipstream {

void read_edits(const Step& step, const ProcessedRow& row, int32_t vocabulary, RowEdits& edits) {
  edits.begin(vocabulary);
  const auto path = step.path.subspan(static_cast<size_t>(row.path_begin), static_cast<size_t>(row.path_size));
  if (row.logits_processor >= 0) step.logits_processors[static_cast<size_t>(row.logits_processor)]->edit(path, edits);
  if (row.mask < 0) return;
  const TokenMask* allowed = step.masks[static_cast<size_t>(row.mask)]->get();
  allowed == nullptr ? edits.forbid_all() : edits.allow_only(*allowed);
}

// Edits a copy, because logprobs are computed from the model's own logits afterwards.
std::span<const float> processed(const Step& step, int32_t wanted, std::span<const float> logits, ProcessedScratch& scratch) {
  if (step.processed.empty()) return logits;
  const auto row = std::ranges::lower_bound(step.processed, wanted, {}, &ProcessedRow::wanted);
  if (row == step.processed.end() || row->wanted != wanted) return logits;
  read_edits(step, *row, static_cast<int32_t>(logits.size()), scratch.edits);
  scratch.row.assign(logits.begin(), logits.end());
  scratch.edits.apply(scratch.row);
  return scratch.row;
}

}  // namespace slipstream
