// Learns what a target says in its own chats, whose features were collected (feature_shard.h): its
// distributions come from what its final norm read, so that no pass of the target is needed, and
// they are those of the format that is served. Rows of answers alone are learned: nobody drafts
// prompts.
#pragma once

#include "tools/train/head_batches.h"
#include "tools/train/head_data.h"
#include "tools/train/head_example.h"
#include "tools/train/lessons.h"
#include "tools/train/target_output.h"

namespace slipstream::train {

inline constexpr int64_t kHeldOutLessonChatsMax = 64;

class ChatLessons final : public Lessons {
 public:
  // config: of the target, its taps and all of its vocabulary. target: on the device where all is
  // computed, the product of its output layer in `compute`.
  ChatLessons(const HeadConfig& config, HeadData data, const HeadTarget& target, Divergence divergence,
              const LessonSizes& sizes, uint64_t seed, at::ScalarType compute);

  Result<at::Tensor> learn(const LlamaModule& model, int64_t step) override;
  Result<std::optional<HeldOutLoss>> held_out(const LlamaModule& model) override;
  int64_t tokens_of_a_step() const override { return data_.tokens_of(sizes_.batch); }
  int64_t tokens_max() const override { return whole_rows(data_.tokens_max()); }

 private:
  TaughtRows taught(const HeadBatch& batch) const;  // those that it learns from

  LessonSizes sizes_;
  Divergence divergence_;
  at::Device device_;
  TargetOutput output_;
  HeadData data_;
  HeadBatcher batcher_;
  HeadBatches batches_;
};

}  // namespace slipstream::train
