#include "tools/train/training.h"

#include <utility>

#include "tools/train/gradient_clip.h"

namespace slipstream::train {

Training::Training(const LlamaConfig& config, Weights weights, std::unique_ptr<Lessons> lessons,
                   const TrainingSettings& settings)
    : settings_(settings),
      schedule_{.peak = settings.learning_rate, .warmup_steps = settings.warmup_steps, .steps = settings.steps},
      weights_(std::move(weights)),
      lessons_(std::move(lessons)),
      model_(config, weights_, lessons_->tokens_max(), settings.compute()),
      optimizer_(weights_, {.decay = settings.decay}) {}

Result<void> Training::step() {
  const StepReport report{.step = steps_done_ + 1, .learning_rate = learning_rate(schedule_, steps_done_)};
  TRY(const at::Tensor loss, lessons_->learn(model_, steps_done_));
  const Clipping clipping = clip_gradients(weights_, settings_.clip);
  optimizer_.step(report.learning_rate, {.divisor = clipping.divisor, .broken = broken(loss, clipping.norm)});
  optimizer_.clear_gradients();
  reports_.add(report, loss, clipping.norm);
  ++steps_done_;
  return {};
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
