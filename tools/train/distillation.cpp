#include "tools/train/distillation.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/softmax.h>

#include "tools/train/sliced_loss.h"

namespace slipstream::train {

at::Tensor divergence(Divergence kind, const at::Tensor& teacher, const at::Tensor& model) {
  if (kind == Divergence::total_variation) return (at::softmax(teacher, -1) - at::softmax(model, -1)).abs().sum(-1) / 2;
  const at::Tensor log_p = at::log_softmax(teacher, -1), log_q = at::log_softmax(model, -1);
  return kind == Divergence::forward_kl ? (log_p.exp() * (log_p - log_q)).sum(-1) : (log_q.exp() * (log_q - log_p)).sum(-1);
}

namespace {

// Of the rows before each token but the first.
TaughtRows rows_before(const Teacher& teacher, const at::Tensor& tokens) {
  const at::NoGradGuard no_gradients;
  const auto logits = [&teacher, hidden = teacher.module.rows_before(tokens)](int64_t first, int64_t rows) {
    const at::NoGradGuard none;
    return teacher.module.logits(hidden.narrow(0, first, rows));
  };
  return {logits, teacher.divergence};
}

}  // namespace

at::Tensor distil_backward(const LlamaModule& model, const at::Tensor& hidden, const TaughtRows& taught, double divisor) {
  return sliced_loss_backward(model, hidden, [&](const at::Tensor& logits, int64_t first) {
    return divergence(taught.divergence, taught.teacher(first, logits.size(0)), logits).sum() / divisor;
  });
}

at::Tensor distillation_loss_backward(const LlamaModule& model, const Teacher& teacher, const at::Tensor& tokens,
                                      double divisor) {
  return distil_backward(model, model.rows_before(tokens), rows_before(teacher, tokens), divisor);
}

void Agreement::add(const Agreement& other) {
  rows += other.rows;
  divergence += other.divergence;
  greedily += other.greedily;
  sampled += other.sampled;
}

Agreement agreement(const LlamaModule& model, const at::Tensor& hidden, const TaughtRows& taught) {
  const at::NoGradGuard no_gradients;
  Agreement agreed{.rows = hidden.size(0)};
  const at::Tensor sum = sliced_loss(model, hidden, [&](const at::Tensor& logits, int64_t first) {
    const at::Tensor theirs = taught.teacher(first, logits.size(0));
    const at::Tensor rejected = divergence(Divergence::total_variation, theirs, logits);
    agreed.greedily += static_cast<double>((logits.argmax(-1) == theirs.argmax(-1)).sum().item<int64_t>());
    agreed.sampled += (1 - rejected).sum(at::kDouble).item<double>();
    return divergence(taught.divergence, theirs, logits).sum();
  });
  agreed.divergence = sum.item<double>();
  return agreed;
}

Agreement agreement(const LlamaModule& model, const Teacher& teacher, const at::Tensor& tokens) {
  const at::NoGradGuard no_gradients;
  return agreement(model, model.rows_before(tokens), rows_before(teacher, tokens));
}

}  // namespace slipstream::train
