// The whole forward pass of a Llama-family model, with gradients: what common/model/llama.h serves,
// from the same weights.
//
//   at::Tensor hidden = model.hidden(tokens);
//   at::Tensor logits = model.logits(hidden);
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "common/checkpoint/llama_config.h"
#include "tools/train/llama_block.h"
#include "tools/train/rotary.h"
#include "tools/train/weights.h"

namespace slipstream::train {

class LlamaModule {
 public:
  // Shares the tensors of `weights` (llama_tensors()). length_max: of a sequence. Matrices and
  // attention are computed in `compute`, kFloat or kBFloat16, and all else in f32.
  LlamaModule(const LlamaConfig& config, const Weights& weights, int64_t length_max, at::ScalarType compute);

  // tokens: [sequences, length] i64. Returns [sequences, length, hidden] f32, after the final norm.
  at::Tensor hidden(const at::Tensor& tokens) const;
  // tokens: [sequences, length + 1] i64. Returns [sequences * length, hidden]: the rows that
  // predict each token but the first.
  at::Tensor rows_before(const at::Tensor& tokens) const;
  // hidden: [..., hidden]. Returns [..., vocabulary] f32.
  at::Tensor logits(const at::Tensor& hidden) const;
  int64_t vocabulary() const { return head_.size(0); }

 private:
  int64_t hidden_;
  double eps_;
  at::ScalarType compute_;
  at::Tensor embedding_, final_norm_, head_;
  Rotary rotary_;
  std::vector<LlamaBlock> blocks_;
};

}  // namespace slipstream::train
