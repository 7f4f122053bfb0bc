// What a request asks to be done to logits before the chain of chain.h: penalties, biases, masks.
// Plain data; logits_processor.h does it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/base/ids.h"

namespace slipstream {

inline constexpr float kRepetitionPenaltyMin = 1e-2F;
inline constexpr float kRepetitionPenaltyMax = 1e2F;
inline constexpr float kPenaltyMax = 2.0F;       // of presence and frequency, to both sides: OpenAI's own limit
inline constexpr float kLogitBiasMost = 100.0F;  // to both sides: OpenAI's own limit

struct LogitBias {
  TokenId id = 0;
  float bias = 0;  // added to the logit
  bool operator==(const LogitBias&) const = default;
};

struct LogitsParams {
  float repetition_penalty = 1.0F;              // of tokens in prompt or output; 1: off
  float presence_penalty = 0.0F;                // of tokens in the output; 0: off
  float frequency_penalty = 0.0F;               // the same for each time they are there
  int32_t min_tokens = 0;                       // the first so many tokens of the output ...
  std::vector<TokenId> end_ids;                 // ... are none of these
  std::vector<LogitBias> bias;                  // ascending by id, each once
  std::vector<std::vector<TokenId>> bad_words;  // sequences that the output must not hold; none is empty
  std::vector<TokenId> allowed;                 // ascending, each once: no other token; empty: all are allowed

  bool penalises() const { return repetition_penalty != 1.0F || presence_penalty != 0.0F || frequency_penalty != 0.0F; }
  // Those in force that forbid tokens, by the names of a request's fields, the strictest first.
  std::vector<std::string_view> masks() const {
    std::vector<std::string_view> names;
    if (!allowed.empty()) names.emplace_back("allowed_token_ids");
    if (!bad_words.empty()) names.emplace_back("bad_words");
    if (min_tokens > 0 && !end_ids.empty()) names.emplace_back("min_tokens");
    return names;
  }
  bool any() const { return *this != LogitsParams{}; }
  bool operator==(const LogitsParams&) const = default;
};

}  // namespace slipstream
