// The training of a draft head, a step at a time: as Training, it reads no clock and no terminal,
// and equal settings, weights and data give equal bits. (One that ends after a time takes its
// learning rate from the time that the caller tells.)
//
// The loss of a row at unrolled step s is the cross-entropy with the target's distribution,
// restricted to the draft vocabulary and the extra tokens of the chats that are computed with it
// and renormalised, times step_weight^s. Rows count whose next token belongs to an answer, and only
// where the target's likeliest token is one of these.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "tools/train/adamw.h"
#include "tools/train/checkpoint_file.h"
#include "tools/train/draft_head.h"
#include "tools/train/head_batches.h"
#include "tools/train/head_data.h"
#include "tools/train/head_example.h"
#include "tools/train/learning_rate.h"
#include "tools/train/step_reports.h"

namespace slipstream::train {

struct HeadTrainingSettings {
  int64_t steps = 1000;
  double minutes = 0;       // above 0: it ends after this time, and `steps` bounds nothing
  int64_t batch = 16;       // chats of a step
  int64_t micro_batch = 1;  // chats that are computed at once: more of them suit a GPU
  int unroll = 4;           // steps, as many as the deepest draft has tokens
  double step_weight = 0.8;
  double learning_rate = 1e-3;
  int64_t warmup_steps = 50;
  double decay = 0.01;
  double clip = 1.0;           // norm of the gradients of a step, at most
  bool freeze_output = false;  // the output head stays the target's own rows: a third less to compute
  bool bf16 = false;           // matrices and attention in bf16; weights, gradients and optimiser stay f32
  int32_t extra_tokens = 0;    // of a chat, outside the draft vocabulary; none unless freeze_output
  uint64_t seed = 1;           // of the order of the chats

  at::ScalarType compute() const { return bf16 ? at::kBFloat16 : at::kFloat; }
};

// How a head would draft for the held-out answers, greedily: of the rows whose earlier drafts
// were all the target's choice, how many have the target's choice at this depth, too. A draft
// goes on only where the chat goes on with the target's choice.
struct DraftedDepth {
  int64_t tried = 0, matched = 0;
  double rate() const { return tried == 0 ? 0 : static_cast<double>(matched) / static_cast<double>(tried); }
};
struct HeldOut {
  double loss = 0;                   // of step 0, nats per row
  std::vector<DraftedDepth> depths;  // [unroll]
  // Tokens of a round that drafts as deep as this: the accepted ones and the target's own.
  double tokens_per_round() const;
};
std::string text_of(const HeldOut& held_out);

// Begins near the target: with its output rows, its final norm, and features that are its last
// tapped residual; queries begin as the keys do, so that a row sees itself and its like most. All
// else is random. fc's columns are those of scaled features (feature_scales()).
Weights first_head_weights(const HeadConfig& config, const HeadTarget& target, const std::vector<float>& scales, uint64_t seed);

class HeadTraining {
 public:
  // weights: head_tensors(), with fc's columns multiplied by the scales of `examples`, and on its
  // device, where all is computed. `data` outlives this.
  HeadTraining(const HeadConfig& config, Weights weights, HeadExamples examples, const HeadData& data,
               const HeadTrainingSettings& settings);

  // seconds: that the training has taken until now, before it was cut off, too. On a GPU it returns
  // before the step is done. Errors: chats without anything to learn; features that must be
  // computed, and cannot be.
  Result<void> step(double seconds = 0);
  // Of the steps since the last call. An error if loss or gradients of one were not finite, which
  // has left the weights as they were.
  Result<std::vector<StepReport>> reports();
  bool finished() const;
  int64_t steps_done() const { return steps_done_; }
  double seconds_done() const { return seconds_done_; }  // of one that ends after a time, as step() was told last
  int64_t tokens_of_a_step() const { return data_.tokens_of(settings_.batch); }  // in the mean

  // Over the first held-out chats, at most chats_max. No gradients.
  Result<HeldOut> held_out(int64_t chats_max) const;

  // As Training's.
  Result<void> save(const std::filesystem::path& checkpoint, const Conditions& conditions) const;
  Result<void> restore(const std::filesystem::path& checkpoint, const Conditions& conditions);

  const Weights& weights() const { return weights_; }

 private:
  at::Device device() const { return weights_.all().front().value.device(); }
  double rate(double seconds) const;
  at::Tensor learn(const HeadBatch& batch, double divisor) const;

  HeadTrainingSettings settings_;
  Schedule schedule_;
  Weights weights_;
  Weights trained_;  // those of them that change
  DraftHead head_;
  HeadExamples examples_;
  AdamW optimizer_;
  const HeadData& data_;
  HeadBatcher batcher_, held_out_batcher_;  // chats that are held out have no extra tokens
  HeadBatches batches_;
  StepReports reports_;
  int64_t steps_done_ = 0;
  double seconds_done_ = 0;
};

}  // namespace slipstream::train
