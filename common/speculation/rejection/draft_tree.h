// A tree as a drafter sends it: the tokens, and, if they were sampled, the distributions that they
// were sampled from. The ratio family (accept.h) needs the latter; the coupled rule
// (speculation/walk.h) reads the tokens only.
//
// Invariants of a tree that came out of make():
//   1. its tokens are a TokenTree (common/speculation/token_tree.h), except that siblings sampled
//      with replacement may carry the same token;
//   2. each row with children has the distribution that they were sampled from; other rows have
//      none. Children stand in the order in which they were sampled;
//   3. a distribution has 1 to kDraftDistributionTokensMax tokens of the vocabulary, in ascending
//      order, with positive weights that add up to kDraftDistributionTotal;
//   4. the distribution of its row can give each child's token.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/speculation/rejection/residual.h"
#include "common/speculation/rejection/token_distribution.h"
#include "common/speculation/token_tree.h"

namespace slipstream {

class DraftTree {
 public:
  DraftTree() = default;                                                // no nodes
  explicit DraftTree(TokenTree tokens) : tokens_(std::move(tokens)) {}  // not sampled

  // distributions: [nodes + 1] of the children of row i (common/speculation/tree_rows.h), empty
  // where the row has none. Errors name the node or row and what is wrong with it.
  static Result<DraftTree> make(std::vector<TreeNode> nodes, std::vector<OwnedDistribution> distributions,
                                Replacement replacement, int32_t vocabulary);

  // As if sampled from distributions that give nothing else: for a method that guesses without
  // probabilities. REQUIRES: the tokens are a chain.
  static DraftTree certain(const TokenTree& tokens);

  const TokenTree& tokens() const { return tokens_; }
  std::span<const TreeNode> nodes() const { return tokens_.nodes(); }
  int size() const { return tokens_.size(); }
  bool empty() const { return tokens_.empty(); }
  int depth(int node) const { return tokens_.depth(node); }
  int depth() const { return tokens_.depth(); }

  bool sampled() const { return !distributions_.empty() || empty(); }
  // q of this row's children; empty if it has no children or the tree was not sampled.
  TokenDistribution distribution(int row) const {
    return distributions_.empty() ? TokenDistribution{} : distributions_[static_cast<size_t>(row)].view();
  }
  Replacement replacement() const { return replacement_; }

  // Cuts the tree to at most `budget` nodes. Returns the former index of each node that stays,
  // ascending, [size()]. Of a sampled tree whole sibling sets are cut (TokenTree::trim), of any
  // other tree the nodes that survive least.
  std::vector<int32_t> trim(int budget);
  // As TokenTree::keep. REQUIRES: the tree was not sampled.
  std::vector<int32_t> keep(std::span<const int32_t> nodes);

 private:
  TokenTree tokens_;
  std::vector<OwnedDistribution> distributions_;  // [nodes + 1], or none
  Replacement replacement_ = Replacement::without;
};

}  // namespace slipstream
