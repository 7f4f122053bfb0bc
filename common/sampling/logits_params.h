// A request's penalties, biases and masks. Plain data: logits_processor.h lists them as edits of a
// row, before the chain of chain.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/base/ids.h"

namespace slipstream {

inline constexpr float kRepetitionPenaltyMin = 1e-2F;
inline constexpr float kRepetitionPenaltyMax = 1e2F;
inline constexpr float kPenaltyMax = 2.0F;       // magnitude of presence and frequency penalty: OpenAI's own limit
inline constexpr float kLogitBiasMost = 100.0F;  // magnitude: OpenAI's own limit

struct LogitBias {
  TokenId id = 0;
  float bias = 0;  // added to the logit
  bool operator==(const LogitBias&) const = default;
};

struct LogitsParams {
  float repetition_penalty = 1.0F;              // for tokens of prompt or output; 1: off
  float presence_penalty = 0.0F;                // for tokens of the output, once; 0: off
  float frequency_penalty = 0.0F;               // for tokens of the output, per occurrence; 0: off
  int32_t min_tokens = 0;                       // stop_ids are forbidden until the output has this many tokens
  std::vector<TokenId> stop_ids;                // tokens that end the output
  std::vector<LogitBias> bias;                  // ascending by id, each id once
  std::vector<std::vector<TokenId>> bad_words;  // token sequences that the output must not contain; none is empty
  std::vector<TokenId> allowed;                 // the only tokens allowed, ascending, each once; empty: all

  bool penalises() const { return repetition_penalty != 1.0F || presence_penalty != 0.0F || frequency_penalty != 0.0F; }
  // The request's fields that forbid tokens, the strictest first: for error messages.
  std::vector<std::string_view> masks() const {
    std::vector<std::string_view> names;
    if (!allowed.empty()) names.emplace_back("allowed_token_ids");
    if (!bad_words.empty()) names.emplace_back("bad_words");
    if (min_tokens > 0 && !stop_ids.empty()) names.emplace_back("min_tokens");
    return names;
  }
  bool any() const { return *this != LogitsParams{}; }
  bool operator==(const LogitsParams&) const = default;
};

}  // namespace slipstream
