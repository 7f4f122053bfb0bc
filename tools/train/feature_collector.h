// Runs chats through the served target, in the format that is served, and keeps what a draft head
// reads of it: the features of its tapped layers, and its likeliest next tokens.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "common/base/result.h"
#include "common/kv/block_table.h"
#include "common/model/language_model.h"
#include "common/model/make_device.h"
#include "common/model/step_plan.h"
#include "tools/train/chat_documents.h"
#include "tools/train/feature_shard.h"

namespace slipstream::train {

// A chat with its features.
struct CollectedDocument {
  ChatDocument chat;
  std::vector<TokenId> choices;    // [tokens]
  std::vector<uint16_t> features;  // [tokens, taps * hidden] bf16

  FeatureDocument view() const {
    return {.tokens = chat.tokens, .choices = choices, .answer = chat.answer, .features = features};
  }
};

class FeatureCollector {
 public:
  // tokens_max: of a chat. Errors: those of make_device() and of LanguageModel::load().
  static Result<FeatureCollector> load(const std::filesystem::path& target, const DeviceOptions& device,
                                       std::vector<int32_t> taps, int64_t tokens_max);

  // A pass computes rows of as many of them as it has room for. REQUIRES: a chat has at most
  // tokens_max tokens, and ids of the model's vocabulary.
  Result<std::vector<CollectedDocument>> collect(std::vector<ChatDocument> chats);
  Result<CollectedDocument> collect(ChatDocument chat);
  FeatureOrigin origin() const;
  const LanguageModel& model() const { return model_; }

 private:
  // The rows [begin, end) of a chat, in a pass.
  struct Part {
    CollectedDocument* document = nullptr;
    const BlockTable* table = nullptr;
    int32_t begin = 0, end = 0;
  };

  FeatureCollector(LanguageModel model, std::vector<int32_t> taps, int32_t blocks)
      : model_(std::move(model)), taps_(std::move(taps)), blocks_(blocks) {}
  Result<void> pass(std::span<const Part> parts);

  LanguageModel model_;
  std::vector<int32_t> taps_;
  int32_t blocks_;  // of a chat, at most
  StepPlan plan_;
};

// The nearest bf16, ties to even; a number that is no number stays one.
uint16_t to_bf16(float value);

}  // namespace slipstream::train
