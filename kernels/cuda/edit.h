// Penalties, biases and masks of rows of logits on a GPU, with the same bits as RowEdits::apply()
// (common/sampling/row_edits.h).
#pragma once

#include <cstdint>

#include "kernels/cuda/stream.h"
#include "kernels/exact/logit_edit.h"

namespace slipstream::cuda {

struct EditedRow {
  int32_t row = 0;                            // of the logits
  int32_t first = 0, penalties = 0, end = 0;  // its edits: [first, penalties), then [penalties, end); each token once in either
  int32_t mask = -1;                          // its index among the masks; -1: it has none
};

struct EditArgs {
  const float* logits = nullptr;    // [.., vocabulary]
  const EditedRow* rows = nullptr;  // [count]
  const LogitEdit* edits = nullptr;
  const uint32_t* masks = nullptr;  // [.., ceil(vocabulary / 32)] token v is bit v % 32 of word v / 32
  float* out = nullptr;             // [count, vocabulary]
  int32_t count = 0, vocabulary = 0;
};

// Returns the CUDA runtime's error code; 0: the kernel is on the stream. Row-invariant.
int edit_rows(const EditArgs& args, Stream stream);

}  // namespace slipstream::cuda
