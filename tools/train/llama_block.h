// One block of the Llama family, with gradients: attention and gated MLP, each behind a norm and
// added to the residual. It computes what common/model/llama.h serves, from the same weights.
#pragma once

#include <string>

#include <ATen/core/Tensor.h>

#include "common/checkpoint/llama_config.h"
#include "tools/train/rotary.h"
#include "tools/train/weights.h"

namespace slipstream::train {

// Returns x [..., in] * weight^T [in, out] + bias, which may be undefined. Computes and returns in
// `compute`: kFloat, or kBFloat16, whose products are summed in f32.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, at::ScalarType compute);

class LlamaBlock {
 public:
  // Takes its weights by their names behind `prefix` (tensor_list.h).
  LlamaBlock(const LlamaConfig& config, const Weights& weights, const std::string& prefix, at::ScalarType compute);

  // residual: [sequences, length, hidden] f32. Returns the residual behind the block. A position
  // sees itself and those before it.
  at::Tensor forward(const at::Tensor& residual, const Rotary& rotary) const;

 private:
  struct Linear {
    at::Tensor weight, bias;
  };
  at::Tensor heads_of(const at::Tensor& x, const Linear& projection, int64_t heads, const at::Tensor& norm) const;
  at::Tensor attend(const at::Tensor& normed, const Rotary& rotary) const;

  int64_t heads_, kv_heads_, head_size_, hidden_;
  double eps_;
  at::ScalarType compute_;
  at::Tensor input_norm_, mlp_norm_;
  at::Tensor query_norm_, key_norm_;  // undefined: the model has none
  Linear query_, key_, value_, output_;
  Linear gate_, up_, down_;
};

}  // namespace slipstream::train
