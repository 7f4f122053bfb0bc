// Decodes one sequence with a model and nothing around it, as a baseline for benchmarks.
#pragma once

#include <cstdint>
#include <span>

#include "common/kv/block_table.h"
#include "common/model/language_model.h"
#include "common/model/step_plan.h"

namespace slipstream {

// One sequence in its own model, greedy unless a temperature is set. There is no service around it.
class OneSequence {
 public:
  // REQUIRES: both outlive it
  OneSequence(LanguageModel& model, BlockPool& pool) : model_(&model), blocks_(pool) {}

  // Appends `tokens` as rows, each visible to the next: a chunk of a prompt or a drafted chain,
  // which cost the same. Returns the token sampled after the last row. all_wanted: compute the
  // model's head for every row, not the last only.
  Result<TokenId> run(std::span<const TokenId> tokens, bool all_wanted) {
    TRY_VOID(lay_out(tokens, all_wanted));
    Step step = plan_.view();
    step.logits_read = logits_read_;
    TRY(const auto sampled_tokens, model_->run(step));
    return sampled_tokens.back();
  }
  // The same rows as one pass of the model's draft head. extra: tokens a row that it scores beside
  // its own, if it does; they lie far from each other in the vocabulary.
  Result<void> draft(std::span<const TokenId> tokens, int32_t extra) {
    TRY_VOID(lay_out(tokens, true));
    const int32_t vocabulary = model_->config().vocabulary;
    for (size_t row = 0; row < tokens.size(); ++row) {
      for (int32_t i = 0; i < extra; ++i) {
        auto token = static_cast<TokenId>(int64_t{i} * vocabulary / extra);
        while (model_->draft_vocabulary() != nullptr && model_->draft_vocabulary()->allows(token)) ++token;
        plan_.extra.push_back({.token = token});
      }
      if (extra > 0) plan_.extra.resize((row + 1) * kExtraTokens);
    }
    return model_->draft(plan_.view());
  }
  // Runs a prompt of any length in chunks, as a verifier does.
  Result<TokenId> run_prompt(std::span<const TokenId> tokens) {
    TokenId next = 0;
    while (!tokens.empty()) {
      const auto chunk = tokens.first(std::min(tokens.size(), static_cast<size_t>(model_->step_rows())));
      TRY(next, run(chunk, false));
      tokens = tokens.subspan(chunk.size());
    }
    return next;
  }
  // From now on somebody reads what model.logits() has after a step.
  void read_logits() { logits_read_ = true; }
  // From now on tokens are sampled at this temperature, the noise decided by their positions.
  void set_temperature(float temperature) { temperature_ = temperature; }
  // Forgets the rows from `length` on; the next rows overwrite them in the cache.
  void back_to(int32_t length) { length_ = length; }

 private:
  Result<void> lay_out(std::span<const TokenId> tokens, bool all_wanted) {
    const int32_t end = length_ + static_cast<int32_t>(tokens.size());
    if (!blocks_.reserve(end)) return fail("{} tokens are more than the cache has room for", end);
    plan_.clear();
    plan_.blocks_max = static_cast<int32_t>(blocks_.blocks().size());
    const int32_t sequence = plan_.add_sequence(blocks_.blocks());
    for (const TokenId token : tokens) {
      plan_.add({.token = token,
                 .position = length_,
                 .slot = blocks_.slot(length_),
                 .parent_slot = length_ == 0 ? -1 : blocks_.slot(length_ - 1),
                 .sequence = sequence,
                 .visible = length_ + 1});
      if (++length_ == end || all_wanted) plan_.want(how());
    }
    return {};
  }

  RowSampling how() const { return {.position = static_cast<uint32_t>(length_), .params = {.temperature = temperature_}}; }

  LanguageModel* model_;
  BlockTable blocks_;
  StepPlan plan_;
  int32_t length_ = 0;
  float temperature_ = 0;
  bool logits_read_ = false;
};

}  // namespace slipstream
