// The training of a draft head, a step at a time: as Training, it reads no clock and no terminal,
// and equal settings, weights and data give equal bits.
//
// The loss of a row at unrolled step s is the cross-entropy with the target's distribution,
// restricted to the draft vocabulary and renormalised, times step_weight^s. Rows count whose next
// token belongs to an answer, and only where the target's likeliest token is in the draft
// vocabulary.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "tools/train/adamw.h"
#include "tools/train/checkpoint_file.h"
#include "tools/train/draft_head.h"
#include "tools/train/head_data.h"
#include "tools/train/head_example.h"
#include "tools/train/learning_rate.h"
#include "tools/train/training.h"

namespace slipstream::train {

struct HeadTrainingSettings {
  int64_t steps = 1000;
  int64_t batch = 16;  // chats of a step
  int unroll = 4;      // steps, as many as the deepest draft has tokens
  double step_weight = 0.8;
  double learning_rate = 1e-3;
  int64_t warmup_steps = 50;
  double decay = 0.01;
  double clip = 1.0;           // norm of the gradients of a step, at most
  bool freeze_output = false;  // the output head stays the target's own rows: a third less to compute
  bool bf16 = false;           // matrices and attention in bf16; weights, gradients and optimiser stay f32
  uint64_t seed = 1;           // of the order of the chats
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
  // weights: head_tensors(), with fc's columns multiplied by the scales of `examples`. `data`
  // outlives this.
  HeadTraining(const HeadConfig& config, Weights weights, HeadExamples examples, const HeadData& data,
               const HeadTrainingSettings& settings);

  // An error if loss or gradients are not finite: the weights are those of the step before.
  Result<StepReport> step();
  int64_t steps_done() const { return steps_done_; }
  int64_t tokens_of_a_step() const;  // in the mean

  // Over the first held-out chats, at most chats_max. No gradients.
  HeldOut held_out(int64_t chats_max) const;

  // As Training's.
  Result<void> save(const std::filesystem::path& checkpoint, const Conditions& conditions) const;
  Result<void> restore(const std::filesystem::path& checkpoint, const Conditions& conditions);

  const Weights& weights() const { return weights_; }

 private:
  std::vector<const FeatureDocument*> batch(int64_t step);
  double learn(const FeatureDocument& document, double divisor) const;

  HeadTrainingSettings settings_;
  Schedule schedule_;
  Weights weights_;
  Weights trained_;  // those of them that change
  DraftHead head_;
  HeadExamples examples_;
  AdamW optimizer_;
  const HeadData& data_;
  int64_t steps_done_ = 0;
  int64_t epoch_ = -1;  // whose order is in order_
  std::vector<uint32_t> order_;
};

}  // namespace slipstream::train
