// A tree as a drafter made it: with the laws that its nodes were drawn from, if it was drawn, as the ratio family asks
// (accept.h).
//
// Invariants of one that came out of make():
//   1. its tree is one (token_tree.h), except that siblings drawn with replacement may carry the same token;
//   2. each row with children has the law that they were drawn from, in the order in which they were drawn; other rows have
//   none;
//   3. a law has 1 to kDraftLawTokensMax tokens of the vocabulary, ascending, with weights above 0 that add up to
//   kDraftLawTotal;
//   4. each child's token can be drawn from its law.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/sampling/law.h"
#include "common/sampling/residual.h"
#include "common/speculation/token_tree.h"

namespace slipstream {

class DraftTree {
 public:
  DraftTree() = default;                                 // no nodes
  DraftTree(TokenTree tree) : tree_(std::move(tree)) {}  // NOLINT: not drawn, no laws

  // laws: [nodes + 1] of the children of row i (tree_rows.h), empty where it has none. Errors name the node or row and what is
  // wrong with it.
  static Result<DraftTree> make(std::vector<TreeNode> nodes, std::vector<OwnLaw> laws, Replacement replacement,
                                int32_t vocabulary);

  // Drawn from laws that could give nothing else: what a method without probabilities guesses. tree: a chain.
  static DraftTree certain(const TokenTree& tree);

  operator const TokenTree&() const { return tree_; }  // NOLINT: whoever cares for tokens alone
  const TokenTree& tree() const { return tree_; }
  std::span<const TreeNode> nodes() const { return tree_.nodes(); }
  int size() const { return tree_.size(); }
  bool empty() const { return tree_.empty(); }
  int depth(int node) const { return tree_.depth(node); }
  int depth() const { return tree_.depth(); }

  bool drawn() const { return !laws_.empty() || empty(); }
  Law law(int row) const { return laws_.empty() ? Law{} : laws_[static_cast<size_t>(row)].view(); }
  Replacement replacement() const { return replacement_; }

  // As TokenTree::trim.
  std::vector<int32_t> trim(int budget);

 private:
  TokenTree tree_;
  std::vector<OwnLaw> laws_;  // [nodes + 1], or none
  Replacement replacement_ = Replacement::without;
};

}  // namespace slipstream
