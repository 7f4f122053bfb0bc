// The loss of predicting each next token: cross-entropy in nats, over the whole vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

#include "tools/train/llama_module.h"

namespace slipstream::train {

// tokens: [sequences, length + 1] i64. Returns the sum of the losses of all sequences * length
// predictions, divided by `divisor`: a scalar, f64, on the model's device. Makes no gradients.
at::Tensor next_token_loss(const LlamaModule& model, const at::Tensor& tokens, double divisor);
// The same; also adds its gradients to the weights'.
at::Tensor next_token_loss_backward(const LlamaModule& model, const at::Tensor& tokens, double divisor);

}  // namespace slipstream::train
