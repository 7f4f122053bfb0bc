// A loss of a model's logits, summed over rows.
//
// A vocabulary is large (49,152 ids: 0.2 MB of logits for each row), so logits are made for a slice
// of rows at a time. With gradients, a slice is run backward as far as the hidden states before the
// next one begins; then the blocks are run backward once.
#pragma once

#include <cstdint>
#include <functional>

#include <ATen/core/Tensor.h>

#include "tools/train/llama_module.h"

namespace slipstream::train {

// logits: [rows of the slice, vocabulary], of rows `first` and behind it. Returns the sum of their
// losses, a scalar.
using SliceLoss = std::function<at::Tensor(const at::Tensor& logits, int64_t first)>;

// hidden: [rows, hidden] of model.hidden(). Returns the sum of all rows: a scalar, f64, on the
// model's device. Makes no gradients.
at::Tensor sliced_loss(const LlamaModule& model, const at::Tensor& hidden, const SliceLoss& loss);
// The same; also adds its gradients to the weights'.
at::Tensor sliced_loss_backward(const LlamaModule& model, const at::Tensor& hidden, const SliceLoss& loss);

}  // namespace slipstream::train
