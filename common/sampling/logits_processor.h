// A request's penalties, biases and masks, as edits of one row of logits (row_edits.h) before
// temperature and the filters of chain.h. The verifier edits the target's rows, a drafter those of
// its own model. In this order:
//
//   1. repetition penalty r    tokens of prompt or output: logit / r if positive, logit * r if not (CTRL, 1909.05858)
//   2. frequency and presence  tokens of the output: - (frequency * count + presence) (OpenAI, vLLM)
//   3. logit bias              added
//   4. masks                   min_tokens, bad_words, allowed tokens: every forbidden token becomes -inf
//
// The output that a row counts is the emitted tokens and the drafted tokens on the row's own path
// through the tree. A row of a tree therefore gives what plain decoding gives after the same
// tokens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/sampling/logits_params.h"
#include "common/sampling/row_edits.h"
#include "common/sampling/token_counts.h"
#include "common/sampling/token_mask.h"

namespace slipstream {

// The parameters of one sequence and the tokens that it holds.
class LogitsProcessor {
 public:
  explicit LogitsProcessor(LogitsParams how) : how_(std::move(how)) {}

  void add_prompt(std::span<const TokenId> tokens);  // before any output
  void add_output(std::span<const TokenId> tokens);

  // Adds what it does to one row. Ids of the parameters beyond the edits' vocabulary are ignored.
  //
  //   path    [depth of the row] the drafted tokens that the row sees behind the output, its own token last; empty: the root
  //
  // REQUIRES: a path of at most kTreeDepthMax tokens. Allocates nothing but room in the edits.
  // Threads: several may call it at once, but none while tokens are added.
  void edit(std::span<const TokenId> path, RowEdits& edits) const;

  // Whether the masks allow any of the tokens [0, vocabulary) as the next output. also: another
  // mask that must allow it, too; null: none.
  bool leaves_a_token(int32_t vocabulary, const TokenMask* also = nullptr) const;

 private:
  LogitEdit penalty(TokenId token, int32_t times) const;
  void penalise(std::span<const TokenId> path, RowEdits& edits) const;
  void mask(std::span<const TokenId> path, RowEdits& edits) const;
  void mask_bad_words(std::span<const TokenId> path, RowEdits& edits) const;

  LogitsParams how_;
  TokenCounts token_counts_;     // empty unless a penalty is on
  std::vector<TokenId> recent_;  // the last tokens of the output, as many as a bad word can match
  int32_t output_ = 0;           // tokens of the output
};

}  // namespace slipstream
