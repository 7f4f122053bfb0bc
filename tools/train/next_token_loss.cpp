#include "tools/train/next_token_loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>

#include "tools/train/sliced_loss.h"

namespace slipstream::train {
namespace {

SliceLoss loss_of(const at::Tensor& tokens, double divisor) {
  const at::Tensor targets = tokens.narrow(1, 1, tokens.size(1) - 1).reshape({-1});
  return [targets, divisor](const at::Tensor& logits, int64_t first) {
    return at::cross_entropy_loss(logits, targets.narrow(0, first, logits.size(0)), /*weight=*/{}, at::Reduction::Sum) /
           divisor;
  };
}

}  // namespace

at::Tensor next_token_loss(const LlamaModule& model, const at::Tensor& tokens, double divisor) {
  const at::NoGradGuard no_gradients;
  return sliced_loss(model, model.rows_before(tokens), loss_of(tokens, divisor));
}

at::Tensor next_token_loss_backward(const LlamaModule& model, const at::Tensor& tokens, double divisor) {
  return sliced_loss_backward(model, model.rows_before(tokens), loss_of(tokens, divisor));
}

}  // namespace slipstream::train
