// What a model learns from, a step at a time: sequences of texts (sequence_lessons.h), or chats
// with what their target computed of them (chat_lessons.h).
#pragma once

#include <cstdint>
#include <optional>

#include <ATen/core/Tensor.h>

#include "common/base/result.h"
#include "tools/train/distillation.h"
#include "tools/train/llama_module.h"

namespace slipstream::train {

struct LessonSizes {
  int64_t batch = 16;       // sequences or chats of a step
  int64_t micro_batch = 4;  // of them, those that are computed at once; divides batch
};

struct HeldOutLoss {
  double loss = 0;      // of a row, in the mean
  Agreement agreement;  // with the teacher; without one it has no rows
};

class Lessons {
 public:
  virtual ~Lessons() = default;
  // Adds the gradients of that step's data to the model's weights'. Returns its loss, of a row in
  // the mean: a scalar, f64, on the model's device. Steps are counted from 0.
  virtual Result<at::Tensor> learn(const LlamaModule& model, int64_t step) = 0;
  // Of data that no step learns from, the first of it; none: there is no such data. No gradients.
  virtual Result<std::optional<HeldOutLoss>> held_out(const LlamaModule& model) = 0;
  virtual int64_t tokens_of_a_step() const = 0;  // in the mean
  virtual int64_t tokens_max() const = 0;        // of a sequence or chat
};

}  // namespace slipstream::train
