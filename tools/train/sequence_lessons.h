// Learns from sequences of texts: their next tokens, or what a teacher says to them.
#pragma once

#include <optional>

#include "tools/train/lessons.h"
#include "tools/train/sequences.h"

namespace slipstream::train {

inline constexpr int64_t kHeldOutSequencesMax = 64;

class SequenceLessons final : public Lessons {
 public:
  // held_out: sequences of as many tokens. teacher: of the model's vocabulary, on `device`, where
  // all is computed.
  SequenceLessons(Sequences train, std::optional<Sequences> held_out, std::optional<Teacher> teacher, const LessonSizes& sizes,
                  at::Device device);

  Result<at::Tensor> learn(const LlamaModule& model, int64_t step) override;
  Result<std::optional<HeldOutLoss>> held_out(const LlamaModule& model) override;
  int64_t tokens_of_a_step() const override { return sizes_.batch * train_.length(); }
  int64_t tokens_max() const override { return train_.length(); }

 private:
  at::Tensor tokens_of(Sequences& data, int64_t first, int64_t count) const;  // [count, length + 1] i64

  Sequences train_;
  std::optional<Sequences> held_out_;
  std::optional<Teacher> teacher_;
  LessonSizes sizes_;
  at::Device device_;
};

}  // namespace slipstream::train
