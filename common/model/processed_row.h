// The logits that a wanted row's token is sampled from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/model/ops.h"
#include "common/sampling/row_edits.h"

namespace slipstream {

// Reused from row to row. REQUIRES: one per thread.
struct ProcessedScratch {
  RowEdits edits;
  std::vector<float> row;
};

// What the row's logits processor and its mask do to its logits; nothing is allowed, so that the
// row is refused, if it is not known what its mask allows. Waits for the mask if another thread
// makes it.
void read_edits(const Step& step, const ProcessedRow& row, int32_t vocabulary, RowEdits& edits);

// The wanted row's logits as its edits leave them: a copy in `scratch`, or `logits` themselves if
// the step has none for it. logits: [vocabulary] of the row.
std::span<const float> processed(const Step& step, int32_t wanted, std::span<const float> logits, ProcessedScratch& scratch);

}  // namespace slipstream
