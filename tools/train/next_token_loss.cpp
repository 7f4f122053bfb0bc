#include "tools/train/next_token_loss.h"

#include <algorithm>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/zeros.h>

namespace slipstream::train {
namespace {

constexpr int64_t kSliceNumbers = int64_t{16} << 20;  // logits of a slice: 64 MB

int64_t slice_rows(const LlamaModule& model) { return std::max<int64_t>(1, kSliceNumbers / model.vocabulary()); }

at::Tensor loss_of(const LlamaModule& model, const at::Tensor& hidden, const at::Tensor& targets) {
  return at::cross_entropy_loss(model.logits(hidden), targets, /*weight=*/{}, at::Reduction::Sum);
}

struct Rows {
  at::Tensor hidden;   // [rows, hidden]
  at::Tensor targets;  // [rows]
};
Rows rows_of(const LlamaModule& model, const at::Tensor& tokens) {
  const int64_t length = tokens.size(1) - 1;
  const at::Tensor hidden = model.hidden(tokens.narrow(1, 0, length));
  return {hidden.reshape({-1, hidden.size(2)}), tokens.narrow(1, 1, length).reshape({-1})};
}

}  // namespace

at::Tensor next_token_loss(const LlamaModule& model, const at::Tensor& tokens, double divisor) {
  const at::NoGradGuard no_gradients;
  const auto [hidden, targets] = rows_of(model, tokens);
  at::Tensor total = at::zeros({}, hidden.options().dtype(at::kDouble));
  for (int64_t at = 0; at < hidden.size(0); at += slice_rows(model)) {
    const int64_t rows = std::min(slice_rows(model), hidden.size(0) - at);
    total += loss_of(model, hidden.narrow(0, at, rows), targets.narrow(0, at, rows));
  }
  return total / divisor;
}

at::Tensor next_token_loss_backward(const LlamaModule& model, const at::Tensor& tokens, double divisor) {
  const auto [hidden, targets] = rows_of(model, tokens);
  at::Tensor total = at::zeros({}, hidden.options().dtype(at::kDouble));
  std::vector<at::Tensor> gradients;
  for (int64_t at = 0; at < hidden.size(0); at += slice_rows(model)) {
    const int64_t rows = std::min(slice_rows(model), hidden.size(0) - at);
    at::Tensor slice = hidden.narrow(0, at, rows).detach();
    slice.requires_grad_(true);
    const at::Tensor loss = loss_of(model, slice, targets.narrow(0, at, rows)) / divisor;
    loss.backward();
    gradients.push_back(slice.grad());
    total += loss.detach();
  }
  hidden.backward(at::cat(gradients));
  return total;
}

}  // namespace slipstream::train
