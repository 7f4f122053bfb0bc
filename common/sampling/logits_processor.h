// The first half of the processing chain: penalties, biases and masks on one row of logits, before
// temperature and filters (chain.h). The same for the target's rows and a drafter's. In this order:
//   repetition penalty r   of tokens in prompt or output: logit / r above 0, logit * r below (CTRL, 1909.05858, as Hugging
//   Face) frequency, presence    of tokens in the output: minus frequency * times, minus presence (as OpenAI and vLLM) logit
//   bias             added min_tokens, bad words, allowed tokens: all others than what they leave become -inf
// The output of a row is what was emitted and the drafted tokens on its own path through the tree,
// so that a row gives what plain decoding would give after the same tokens. What is not finite
// stays so, masked or not: it must fail the request.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/sampling/logits_params.h"
#include "common/sampling/token_counts.h"

namespace slipstream {

// What one sequence asks for, and what it holds.
class LogitsProcessor {
 public:
  explicit LogitsProcessor(LogitsParams how) : how_(std::move(how)) {}

  void add_prompt(std::span<const TokenId> tokens);  // before any output
  void add_output(std::span<const TokenId> tokens);

  // logits: [vocabulary]; ids beyond it are passed over. path: [depth of the row, at most
  // kTreeDepthMax] the drafted tokens behind the output that the row sees, its own last. Allocates
  // nothing; several threads may call it at once.
  void adjust(std::span<float> logits, std::span<const TokenId> path) const;

  // Do the masks leave any of the tokens [0, vocabulary) after the output?
  bool leaves_a_token(int32_t vocabulary) const;

 private:
  float penalised(float logit, int32_t times) const;
  void penalise(std::span<float> logits, std::span<const TokenId> path) const;
  void mask(std::span<float> logits, std::span<const TokenId> path) const;
  void mask_bad_words(std::span<float> logits, std::span<const TokenId> path) const;

  LogitsParams how_;
  TokenCounts token_counts_;     // kept if penalties are asked for
  std::vector<TokenId> recent_;  // the end of the output, as far as a bad word reaches
  int32_t output_ = 0;           // tokens
};

// Masks all tokens but these (ascending): the hook for structured output.
void allow_only(std::span<float> logits, std::span<const TokenId> allowed);

}  // namespace slipstream
