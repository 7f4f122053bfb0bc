#include "tools/train/sequence_lessons.h"

#include <algorithm>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>

#include "tools/train/compute_device.h"
#include "tools/train/next_token_loss.h"

namespace slipstream::train {

SequenceLessons::SequenceLessons(Sequences train, std::optional<Sequences> held_out, std::optional<Teacher> teacher,
                                 const LessonSizes& sizes, at::Device device)
    : train_(std::move(train)), held_out_(std::move(held_out)), teacher_(std::move(teacher)), sizes_(sizes), device_(device) {}

at::Tensor SequenceLessons::tokens_of(Sequences& data, int64_t first, int64_t count) const {
  const at::Tensor tokens = at::empty({count, data.length() + 1}, staging(device_, at::kLong));
  auto* to = tokens.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i) to = std::ranges::copy(data.at(first + i), to).out;
  return tokens.to(device_, /*non_blocking=*/true);
}

Result<at::Tensor> SequenceLessons::learn(const LlamaModule& model, int64_t step) {
  const auto divisor = static_cast<double>(tokens_of_a_step());
  at::Tensor loss;
  for (int64_t done = 0; done < sizes_.batch; done += sizes_.micro_batch) {
    const at::Tensor tokens = tokens_of(train_, step * sizes_.batch + done, sizes_.micro_batch);
    const at::Tensor more = teacher_ ? distillation_loss_backward(model, *teacher_, tokens, divisor)
                                     : next_token_loss_backward(model, tokens, divisor);
    loss = loss.defined() ? loss + more : more;
  }
  return loss;
}

Result<std::optional<HeldOutLoss>> SequenceLessons::held_out(const LlamaModule& model) {
  if (!held_out_) return std::nullopt;
  const int64_t count = std::min(held_out_->count(), kHeldOutSequencesMax);
  const auto divisor = static_cast<double>(count * held_out_->length());
  HeldOutLoss result;
  for (int64_t at = 0; at < count; at += sizes_.micro_batch) {
    const at::Tensor tokens = tokens_of(*held_out_, at, std::min(sizes_.micro_batch, count - at));
    if (teacher_) {
      result.agreement.add(agreement(model, *teacher_, tokens));
    } else {
      result.loss += next_token_loss(model, tokens, divisor).item<double>();
    }
  }
  if (teacher_) result.loss = result.agreement.divergence / divisor;
  return result;
}

}  // namespace slipstream::train
