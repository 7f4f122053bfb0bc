// The loss of a draft head, and its gradients.
//
// The logits of all rows would take 32 KB a row and step, several times over, and be read from
// memory each time. So they are made of some rows at a time, forward and backward, and a part of
// them stays in the cache of a core.
#pragma once

#include <span>

#include <ATen/core/Tensor.h>

#include "tools/train/draft_head.h"
#include "tools/train/head_example.h"

namespace slipstream::train {

// outs: [steps] of [chats, rows, hidden], of unroll(). rows: [learned] of chats * rows, each with
// the distribution that the target has there, by its example. weights: [steps], by which a row's
// cross-entropy with it counts at each step. Adds the gradients of everything that is trained, and
// returns the loss: a scalar without gradients.
at::Tensor head_loss_backward(const DraftHead& head, std::span<const at::Tensor> outs, const at::Tensor& rows,
                              const HeadExample& example, std::span<const double> weights);

// logits: [..., vocabulary]. Returns the cross-entropy of each row with the distribution there.
at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& probability);

}  // namespace slipstream::train
