#pragma once

#include <cstdint>
#include <span>

#include "common/kv/block_table.h"
#include "common/model/language_model.h"
#include "common/model/step_plan.h"

namespace slipstream {

// One greedy sequence in a model of its own, without a service around it.
class OneSequence {
 public:
  OneSequence(LanguageModel& model, BlockPool& pool) : model_(&model), blocks_(pool) {}  // both outlive it

  // Rows behind those there are, each behind the one before it: a prompt's chunk, or a drafted
  // chain, which costs the same. The token after the last one; `all_wanted`: the model's head for
  // every row.
  Result<TokenId> run(std::span<const TokenId> tokens, bool all_wanted) {
    const int32_t end = length_ + static_cast<int32_t>(tokens.size());
    if (!blocks_.reserve(end)) return fail("{} tokens are more than the cache has room for", end);
    plan_.clear();
    plan_.blocks_max = static_cast<int32_t>(blocks_.blocks().size());
    const int32_t sequence = plan_.add_sequence(blocks_.blocks());
    for (const TokenId token : tokens) {
      plan_.add(
          {.token = token, .position = length_, .slot = blocks_.slot(length_), .sequence = sequence, .visible = length_ + 1});
      if (++length_ == end || all_wanted) plan_.want({.params = {.temperature = 0}});
    }
    TRY(const auto sampled_tokens, model_->run(plan_.view()));
    return sampled_tokens.back();
  }
  // Of any length, chunk by chunk, as a verifier computes a prompt.
  Result<TokenId> run_prompt(std::span<const TokenId> tokens) {
    TokenId next = 0;
    while (!tokens.empty()) {
      const auto chunk = tokens.first(std::min<size_t>(tokens.size(), kStepRowsMax));
      TRY(next, run(chunk, false));
      tokens = tokens.subspan(chunk.size());
    }
    return next;
  }
  void back_to(int32_t length) { length_ = length; }

 private:
  LanguageModel* model_;
  BlockTable blocks_;
  StepPlan plan_;
  int32_t length_ = 0;
};

}  // namespace slipstream
