// A training: weights, optimiser and data, a step at a time. It reads no clock and no terminal, and
// writes a file only where it is told to.
//
//   Training training(config, std::move(weights), std::move(lessons), settings);
//   while (training.steps_done() < settings.steps) {
//     TRY_VOID(training.step());
//     TRY(const std::vector<StepReport> reports, training.reports());   // waits for the device
//   }
//
// Equal settings, weights and data give equal bits: on a machine with the same instructions, with
// the same number of threads. A training that was restored from a checkpoint goes on to the same
// bits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "common/base/result.h"
#include "common/checkpoint/llama_config.h"
#include "tools/train/adamw.h"
#include "tools/train/checkpoint_file.h"
#include "tools/train/learning_rate.h"
#include "tools/train/lessons.h"
#include "tools/train/llama_module.h"
#include "tools/train/step_reports.h"
#include "tools/train/weights.h"

namespace slipstream::train {

// What decides, with the first weights and the data, which weights come out.
struct TrainingSettings {
  int64_t steps = 1000;
  double learning_rate = 1e-3;
  int64_t warmup_steps = 50;
  double decay = 0.1;
  double clip = 1.0;  // norm of the gradients of a step, at most
  bool bf16 = false;  // matrices and attention in bf16; weights, gradients and optimiser stay f32

  at::ScalarType compute() const { return bf16 ? at::kBFloat16 : at::kFloat; }
};

class Training {
 public:
  // Computes where the weights are, and lessons compute there, too.
  Training(const LlamaConfig& config, Weights weights, std::unique_ptr<Lessons> lessons, const TrainingSettings& settings);

  // On a GPU it returns before the step is done. Errors: those of its lessons.
  Result<void> step();
  // Of the steps since the last call. An error if loss or gradients of one were not finite, which
  // has left the weights as they were.
  Result<std::vector<StepReport>> reports();
  int64_t steps_done() const { return steps_done_; }
  int64_t tokens_of_a_step() const { return lessons_->tokens_of_a_step(); }  // in the mean
  Result<std::optional<HeldOutLoss>> held_out() const { return lessons_->held_out(model_); }

  // Writes all that restore() needs (safetensors_writer.h says what an error leaves).
  Result<void> save(const std::filesystem::path& checkpoint, const Conditions& conditions) const;
  // Goes on where a checkpoint was written. An error if the file is none, or was written under
  // other conditions, which it names; nothing was changed then.
  Result<void> restore(const std::filesystem::path& checkpoint, const Conditions& conditions);

  const Weights& weights() const { return weights_; }

 private:
  TrainingSettings settings_;
  Schedule schedule_;
  Weights weights_;
  std::unique_ptr<Lessons> lessons_;
  LlamaModule model_;
  AdamW optimizer_;
  StepReports reports_;
  int64_t steps_done_ = 0;
};

}  // namespace slipstream::train
