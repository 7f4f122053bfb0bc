// Logprobs of one prompt's tokens while they come in, and how an answer tells them.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/sampling/logprobs.h"
#include "common/text/tokenizer.h"
#include "services/router/http_api/choice_facts.h"

namespace slipstream {

class PromptLogprobs {
 public:
  PromptLogprobs() = default;  // nobody wants them
  explicit PromptLogprobs(std::vector<TokenId> prompt) : prompt_(std::move(prompt)) {}

  // The next ones, from the second token on. One too many counts for nothing.
  void add(std::span<const TokenLogprob> logprobs, const Tokenizer& tokenizer);
  bool complete() const { return scored_.size() + 1 >= prompt_.size(); }
  // [prompt] The first has no logprob. shown: characters of the prompt's text in the answer; a
  // token that begins a sequence and is not part of that text takes no place in it. REQUIRES:
  // complete().
  std::vector<LogprobFacts> facts(int32_t shown, const Tokenizer& tokenizer) const;

 private:
  std::vector<TokenId> prompt_;
  std::vector<LogprobFacts> scored_;  // from the second token on
};

// As vLLM tells them: null, then an object for each token, by token id.
nlohmann::ordered_json prompt_logprobs_json(std::span<const LogprobFacts> prompt);

}  // namespace slipstream
