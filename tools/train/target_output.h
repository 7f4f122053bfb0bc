// What a target gives the rows of collected chats: its distributions, from what its final norm
// read.
#pragma once

#include <ATen/core/Tensor.h>

#include "tools/train/head_batch.h"
#include "tools/train/head_config.h"

namespace slipstream::train {

// read: [rows, hidden], what the output layer reads; output: [tokens, hidden] of it, in the type
// that computes. Returns [rows, tokens] f32, without gradients.
at::Tensor target_logits(const at::Tensor& read, const at::Tensor& output);

class TargetOutput {
 public:
  // final_norm: [hidden]; output: [tokens, hidden], rows of the output layer. Computes where they
  // are, the product in `compute`.
  TargetOutput(const HeadConfig& config, const at::Tensor& final_norm, const at::Tensor& output, at::ScalarType compute);

  // Of the rows that a batch learns from, on the same device, whose features are those of the taps
  // and behind them what the final norm reads (taps_with_final()). Returns what the output layer
  // reads: [learned rows, hidden] f32.
  at::Tensor read(const HeadBatch& batch) const;
  // read: [rows, hidden]. Returns [rows, tokens], as target_logits().
  at::Tensor logits(const at::Tensor& read) const { return target_logits(read, output_); }
  const at::Tensor& output() const { return output_; }  // [tokens, hidden] in the type of computing

 private:
  double eps_;
  int64_t hidden_, width_;
  at::Tensor final_norm_, output_;
};

}  // namespace slipstream::train
