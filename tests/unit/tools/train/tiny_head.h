// A tiny random target's features of 200 chats, and trainings of a draft head on them.
#pragma once

#include <optional>
#include <vector>

#include "tests/unit/tools/train/tiny_features.h"
#include "tools/train/head_training.h"

namespace slipstream::train {

class TinyHead {
 public:
  TinyHead() {
    static const std::vector<CollectedDocument> documents = collected(random_chats(200));
    write_features(folder_.path(), documents);
    data_ = HeadData::open(folder_.path(), kTokenizer, 20).value();
    config_ = {.target = tiny_config(), .taps = {0, 1}, .vocabulary = frequent_tokens(data_->train(), 64, 48)};
    scales_ = feature_scales(*data_, config_.width()).value();
    target_ = HeadTarget::load(tiny_target(), config_).value();
  }
  HeadTraining training(const HeadTrainingSettings& settings) const { return training(settings, *data_, at::kCPU); }
  HeadTraining training(const HeadTrainingSettings& settings, const HeadData& data, at::Device device) const {
    return HeadTraining(config_, first_head_weights(config_, target_, scales_, 1).on(device),
                        HeadExamples(config_, target_.on(device), scales_, settings.compute()), data, settings);
  }
  HeadExamples examples() const { return {config_, target_, scales_, at::kFloat}; }
  // Of the rows that a batch learns from.
  at::Tensor probability_of(const HeadBatch& batch) const {
    const HeadExample example = examples().of(batch);
    return target_probability(example.target_out, example.output);
  }

 protected:
  TestFolder folder_;
  std::optional<HeadData> data_;
  HeadConfig config_;
  std::vector<float> scales_;
  HeadTarget target_;
};

}  // namespace slipstream::train
