// What the grammar of a sequence's request allows behind its output, and behind drafted tokens. It
// computes each mask once a round, and no sooner than somebody needs it: those of a step's rows may
// be made while the step runs. Part of the verifier's actor; pure.
//
// A row of a tree has the mask of its own path, which depends on the tokens of the path alone. So a
// draft changes how many tokens a step emits, never which.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "common/grammar/grammar.h"
#include "common/sampling/row_mask.h"
#include "common/speculation/token_tree.h"

namespace slipstream {

// Some masks are too much work for the time between two steps. The guide tells how much the last
// ones were, and another thread may then follow() the output, while the loop and the steps of other
// sequences go on.
class GrammarGuide {
 public:
  // grammar: at its beginning; the guide holds it, so that other sequences find it. ends: the
  // tokens that end the output; nothing is allowed behind them.
  GrammarGuide(std::shared_ptr<const Grammar> grammar, std::vector<TokenId> ends);

  // The output grew by these tokens. REQUIRES: none of them ends it, and nobody asks for a RowMask
  // of this round from now on. An error says why the grammar cannot follow them.
  Result<void> advance(std::span<const TokenId> tokens);
  // advance(), and makes the mask behind the tokens. It may run on any thread, on a copy of the
  // guide; until it returns every other call waits for it. Errors: as advance() and why_unknown().
  Result<void> follow(std::span<const TokenId> tokens);
  // Whether somebody else has a copy, or a mask of this round that may still be made.
  bool shared() const { return shared_.use_count() > 1; }
  // [ns] of all masks since the output last grew (Grammar::work_ns).
  uint64_t work_ns() const;

  using Mask = RowMask::Mask;  // shared: a step may outlive the sequence
  // Behind the output and `path`. Null: nothing, or it is not known.
  Mask allowed_after(std::span<const TokenId> path);
  // An error says why it is not known what is allowed behind the output: the grammar is too complex
  // there, or could not follow.
  Result<void> why_unknown() const;
  bool ends(TokenId token) const;

  // [nodes + 1] behind the root and behind each node of a tree; null where no token is looked for.
  // They may be asked for on any thread until the next advance(). Behind a node that is forbidden
  // it is not known what is allowed.
  std::vector<std::shared_ptr<const RowMask>> masks(const TokenTree& tree);
  // The nodes of a tree whose whole path is allowed.
  std::vector<int32_t> allowed_nodes(const TokenTree& tree);

 private:
  class Shared;

  std::shared_ptr<const Grammar> grammar_;
  std::shared_ptr<Shared> shared_;  // with the masks of a step that runs, and with copies
  std::vector<TokenId> ends_;
};

}  // namespace slipstream
