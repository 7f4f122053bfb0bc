// Applies a request's penalties, biases and masks to one row of logits, before temperature and the
// filters of chain.h. The verifier applies it to the target's rows, a drafter to those of its own
// model. In this order:
//
//   1. repetition penalty r    tokens of prompt or output: logit / r if positive, logit * r if not (CTRL, 1909.05858)
//   2. frequency and presence  tokens of the output: - frequency * count, then - presence (OpenAI, vLLM)
//   3. logit bias              added
//   4. masks                   min_tokens, bad_words, allowed tokens: every forbidden token becomes -inf
//
// The output that a row counts is the emitted tokens and the drafted tokens on the row's own path
// through the tree. A row of a tree therefore gives what plain decoding gives after the same
// tokens.
//
// A logit that is NaN or +inf stays NaN or +inf, even where it is masked: the chain must see it and
// refuse the row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/sampling/logits_params.h"
#include "common/sampling/token_counts.h"
#include "common/sampling/token_mask.h"

namespace slipstream {

// The parameters of one sequence and the tokens that it holds.
class LogitsProcessor {
 public:
  explicit LogitsProcessor(LogitsParams how) : how_(std::move(how)) {}

  void add_prompt(std::span<const TokenId> tokens);  // before any output
  void add_output(std::span<const TokenId> tokens);

  // Changes one row in place.
  //
  //   logits  [vocabulary]; ids of the parameters beyond it are ignored
  //   path    [depth of the row] the drafted tokens that the row sees behind the output, its own token last; empty: the root
  //
  // REQUIRES: a path of at most kTreeDepthMax tokens. Allocates nothing. Threads: several may call
  // it at once, but none while tokens are added.
  void adjust(std::span<float> logits, std::span<const TokenId> path) const;

  // Whether the masks allow any of the tokens [0, vocabulary) as the next output. also: another
  // mask that must allow it, too; null: none.
  bool leaves_a_token(int32_t vocabulary, const TokenMask* also = nullptr) const;

 private:
  float penalised(float logit, int32_t times) const;
  void penalise(std::span<float> logits, std::span<const TokenId> path) const;
  void mask(std::span<float> logits, std::span<const TokenId> path) const;
  void mask_bad_words(std::span<float> logits, std::span<const TokenId> path) const;

  LogitsParams how_;
  TokenCounts token_counts_;     // empty unless a penalty is on
  std::vector<TokenId> recent_;  // the last tokens of the output, as many as a bad word can match
  int32_t output_ = 0;           // tokens of the output
};

// Masks every token that is not in `allowed`, which is ascending.
void allow_only(std::span<float> logits, std::span<const TokenId> allowed);

}  // namespace slipstream
