#include "tools/train/head_loss.h"

#include <algorithm>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

namespace slipstream::train {
namespace {

// Rows of a slice, each with its steps. On a CPU its logits stay in a cache then; where the output
// head is trained, too, each slice adds to the gradients of its whole matrix; a GPU wants few and
// large operations.
constexpr int64_t kSliceRows = 64, kSliceRowsTrained = 512, kSliceRowsOnGpu = 4096;

int64_t slice_rows(const at::Tensor& output) {
  if (!output.device().is_cpu()) return kSliceRowsOnGpu;
  return output.requires_grad() ? kSliceRowsTrained : kSliceRows;
}

}  // namespace

at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& probability) {
  return -(probability * at::log_softmax(logits, -1)).sum(-1);
}

at::Tensor head_loss_backward(const DraftHead& head, std::span<const at::Tensor> outs, const at::Tensor& rows,
                              const HeadExample& example, std::span<const double> weights) {
  // The rows that are added to fill the last slice count nothing.
  const int64_t count = rows.numel(), added = whole_rows(count) - count;
  const at::Tensor filled = at::constant_pad_nd(rows, {0, added});
  const at::Tensor target = at::constant_pad_nd(example.target_out, {0, 0, 0, added});
  std::vector<at::Tensor> learned, counted;
  for (size_t step = 0; step < outs.size(); ++step) {
    learned.push_back(outs[step].flatten(0, 1).index_select(0, filled));
    counted.push_back(at::constant_pad_nd(at::full({count}, weights[step], target.options()), {0, added}));
  }
  const at::Tensor read = head.normed(at::stack(learned));  // [steps, rows, hidden]
  const at::Tensor weight = at::stack(counted);             // [steps, rows]
  const bool extra = example.extra_output.defined();
  const at::Tensor output = extra ? at::cat({head.output(), example.extra_output}) : head.output();
  at::Tensor total = at::zeros({}, weight.options());
  std::vector<at::Tensor> gradients;
  for (int64_t at = 0; at < filled.numel(); at += slice_rows(output)) {
    const int64_t size = std::min(slice_rows(output), filled.numel() - at);
    at::Tensor slice = read.detach().narrow(1, at, size);
    slice.requires_grad_(true);
    const at::Tensor losses =
        cross_entropy(head.logits(slice, output), target_probability(target.narrow(0, at, size), example.output));
    const at::Tensor loss = (losses * weight.narrow(1, at, size)).sum();
    loss.backward();
    gradients.push_back(slice.grad());
    total += loss.detach();
  }
  read.backward(at::cat(gradients, 1));
  return total;
}

}  // namespace slipstream::train
