// What the grammar of a sequence's request allows behind its output, and behind drafted tokens. It
// computes each mask once a round. Part of the verifier's actor; pure.
//
// A row of a tree has the mask of its own path, which depends on the tokens of the path alone. So a
// draft changes how many tokens a step emits, never which.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "common/grammar/grammar.h"
#include "common/speculation/token_tree.h"

namespace slipstream {

class GrammarGuide {
 public:
  // ends: the tokens that end the output; nothing is allowed behind them. output: what there is of
  // it. Errors: as advance().
  static Result<GrammarGuide> begin(Grammar grammar, std::vector<TokenId> ends, std::span<const TokenId> output = {});

  // The output grew by these tokens. REQUIRES: none of them ends it. An error, if it is no longer
  // known what may follow, says why: the grammar does not allow the tokens, or is too complex.
  Result<void> advance(std::span<const TokenId> tokens);

  using Mask = std::shared_ptr<const TokenMask>;  // shared: a step may outlive the sequence
  // Behind the output and `path`. Null: nothing, or it is not known.
  Mask allowed_after(std::span<const TokenId> path);
  bool ends(TokenId token) const;

  // [nodes + 1] behind the root and behind each node of a tree; null where no token is looked for.
  std::vector<Mask> masks(const TokenTree& tree);
  // The nodes of a tree whose whole path is allowed.
  std::vector<int32_t> allowed_nodes(const TokenTree& tree);

 private:
  GrammarGuide(Grammar grammar, std::vector<TokenId> ends) : grammar_(std::move(grammar)), ends_(std::move(ends)) {}

  Grammar grammar_;
  std::vector<TokenId> ends_;
  std::map<std::vector<TokenId>, Mask> masks_;  // by path, of this round
};

}  // namespace slipstream
