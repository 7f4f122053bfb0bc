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

// The teacher's logits of some rows of the tokens, made when they are asked for.
class TeacherRows {
 public:
  TeacherRows(const Teacher& teacher, const at::Tensor& tokens) : teacher_(teacher) {
    const at::NoGradGuard no_gradients;
    hidden_ = teacher.module.rows_before(tokens);
  }
  at::Tensor logits(int64_t first, int64_t rows) const {
    const at::NoGradGuard no_gradients;
    return teacher_.module.logits(hidden_.narrow(0, first, rows));
  }

 private:
  const Teacher& teacher_;
  at::Tensor hidden_;  // [rows, the teacher's hidden]
};

}  // namespace

at::Tensor distillation_loss_backward(const LlamaModule& model, const Teacher& teacher, const at::Tensor& tokens,
                                      double divisor) {
  const TeacherRows rows(teacher, tokens);
  return sliced_loss_backward(model, model.rows_before(tokens), [&](const at::Tensor& logits, int64_t first) {
    return divergence(teacher.divergence, rows.logits(first, logits.size(0)), logits).sum() / divisor;
  });
}

void Agreement::add(const Agreement& other) {
  rows += other.rows;
  divergence += other.divergence;
  greedily += other.greedily;
  sampled += other.sampled;
}

Agreement agreement(const LlamaModule& model, const Teacher& teacher, const at::Tensor& tokens) {
  const at::NoGradGuard no_gradients;
  const TeacherRows rows(teacher, tokens);
  const at::Tensor hidden = model.rows_before(tokens);
  Agreement agreed{.rows = hidden.size(0)};
  const at::Tensor sum = sliced_loss(model, hidden, [&](const at::Tensor& logits, int64_t first) {
    const at::Tensor theirs = rows.logits(first, logits.size(0));
    const at::Tensor rejected = divergence(Divergence::total_variation, theirs, logits);
    agreed.greedily += static_cast<double>((logits.argmax(-1) == theirs.argmax(-1)).sum().item<int64_t>());
    agreed.sampled += (1 - rejected).sum(at::kDouble).item<double>();
    return divergence(teacher.divergence, theirs, logits).sum();
  });
  agreed.divergence = sum.item<double>();
  return agreed;
}

}  // namespace slipstream::train
