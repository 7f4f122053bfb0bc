#include "tools/train/sliced_loss.h"

#include <algorithm>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

namespace slipstream::train {
namespace {

constexpr int64_t kSliceNumbers = int64_t{16} << 20;  // logits of a slice: 64 MB

int64_t slice_rows(const LlamaModule& model) { return std::max<int64_t>(1, kSliceNumbers / model.vocabulary()); }

}  // namespace

at::Tensor sliced_loss(const LlamaModule& model, const at::Tensor& hidden, const SliceLoss& loss) {
  const at::NoGradGuard no_gradients;
  at::Tensor total = at::zeros({}, hidden.options().dtype(at::kDouble));
  for (int64_t first = 0; first < hidden.size(0); first += slice_rows(model)) {
    const int64_t rows = std::min(slice_rows(model), hidden.size(0) - first);
    total += loss(model.logits(hidden.narrow(0, first, rows)), first);
  }
  return total;
}

at::Tensor sliced_loss_backward(const LlamaModule& model, const at::Tensor& hidden, const SliceLoss& loss) {
  at::Tensor total = at::zeros({}, hidden.options().dtype(at::kDouble));
  std::vector<at::Tensor> gradients;
  for (int64_t first = 0; first < hidden.size(0); first += slice_rows(model)) {
    const int64_t rows = std::min(slice_rows(model), hidden.size(0) - first);
    at::Tensor slice = hidden.narrow(0, first, rows).detach();
    slice.requires_grad_(true);
    const at::Tensor sum = loss(model.logits(slice), first);
    sum.backward();
    gradients.push_back(slice.grad());
    total += sum.detach();
  }
  hidden.backward(at::cat(gradients));
  return total;
}

}  // namespace slipstream::train
