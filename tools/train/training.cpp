#include "tools/train/training.h"

#include <algorithm>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include "tools/train/compute_device.h"
#include "tools/train/gradient_clip.h"
#include "tools/train/next_token_loss.h"

namespace slipstream::train {
Training::Training(const LlamaConfig& config, Weights weights, Sequences sequences, const TrainingSettings& settings,
                   std::optional<Teacher> teacher)
    : settings_(settings),
      schedule_{.peak = settings.learning_rate, .warmup_steps = settings.warmup_steps, .steps = settings.steps},
      weights_(std::move(weights)),
      model_(config, weights_, sequences.length(), settings.bf16 ? at::kBFloat16 : at::kFloat),
      optimizer_(weights_, {.decay = settings.decay}),
      sequences_(std::move(sequences)),
      teacher_(std::move(teacher)) {}

at::Tensor Training::tokens_of(Sequences& data, int64_t first, int64_t count) const {
  const at::Tensor tokens = at::empty({count, data.length() + 1}, staging(device(), at::kLong));
  auto* to = tokens.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i) to = std::ranges::copy(data.at(first + i), to).out;
  return tokens.to(device(), /*non_blocking=*/true);
}

void Training::step() {
  const StepReport report{.step = steps_done_ + 1, .learning_rate = learning_rate(schedule_, steps_done_)};
  at::Tensor loss;
  for (int64_t done = 0; done < settings_.batch; done += settings_.micro_batch) {
    const at::Tensor tokens = tokens_of(sequences_, steps_done_ * settings_.batch + done, settings_.micro_batch);
    const auto divisor = static_cast<double>(tokens_of_a_step());
    const at::Tensor more = teacher_ ? distillation_loss_backward(model_, *teacher_, tokens, divisor)
                                     : next_token_loss_backward(model_, tokens, divisor);
    loss = loss.defined() ? loss + more : more;
  }
  const Clipping clipping = clip_gradients(weights_, settings_.clip);
  optimizer_.step(report.learning_rate, {.divisor = clipping.divisor, .broken = broken(loss, clipping.norm)});
  optimizer_.clear_gradients();
  reports_.add(report, loss, clipping.norm);
  ++steps_done_;
}

Result<std::vector<StepReport>> Training::reports() {
  std::vector<StepReport> reports = reports_.read();
  if (reports.empty() || reports.back().finite()) return reports;
  const StepReport& last = reports.back();
  return fail(
      "step {}: the loss is {} and the norm of its gradients {}: lower --learning-rate, which is {}, or raise "
      "--warmup-steps, which is {}; if it was so from the first step, the first weights or the data are broken",
      last.step, last.loss, last.gradient_norm, settings_.learning_rate, settings_.warmup_steps);
}

Training::HeldOutLoss Training::held_out(Sequences& data, int64_t sequences_max) const {
  const int64_t count = std::min(data.count(), sequences_max);
  const auto divisor = static_cast<double>(count * data.length());
  HeldOutLoss result;
  for (int64_t at = 0; at < count; at += settings_.micro_batch) {
    const at::Tensor tokens = tokens_of(data, at, std::min(settings_.micro_batch, count - at));
    if (teacher_) {
      result.agreement.add(agreement(model_, *teacher_, tokens));
    } else {
      result.loss += next_token_loss(model_, tokens, divisor).item<double>();
    }
  }
  if (teacher_) result.loss = result.agreement.divergence / divisor;
  return result;
}

Result<void> Training::save(const std::filesystem::path& checkpoint, const Conditions& conditions) const {
  return write_checkpoint(checkpoint, {weights_, optimizer_, steps_done_}, conditions);
}

Result<void> Training::restore(const std::filesystem::path& checkpoint, const Conditions& conditions) {
  TRY(const Done done,
      read_checkpoint(checkpoint, weights_, optimizer_, {.steps_max = settings_.steps, .conditions = conditions}));
  steps_done_ = done.steps;
  return {};
}

}  // namespace slipstream::train
