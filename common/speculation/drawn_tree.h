// A tree whose nodes were drawn from laws that are known: what the ratio family judges (accept.h).
//
// Invariants of a DrawnTree that came out of make():
//   1. its tree is one (token_tree.h), except that siblings drawn with replacement may carry the same token;
//   2. each row with children has the law that they were drawn from, in the order in which they were drawn; other rows have
//   none;
//   3. a law has 1 to kDraftLawTokensMax tokens of the vocabulary, ascending, with weights above 0 that add up to
//   kDraftLawTotal;
//   4. each child's token can be drawn from its law.
#pragma once

#include <cstdint>
#include <vector>

#include "common/sampling/law.h"
#include "common/sampling/residual.h"
#include "common/speculation/token_tree.h"

namespace slipstream {

class DrawnTree {
 public:
  DrawnTree() = default;  // no nodes

  // laws: [nodes + 1] of the children of row i (tree_mask.h), empty where it has none. Errors name the node or row and what is
  // wrong with it.
  static Result<DrawnTree> make(std::vector<TreeNode> nodes, std::vector<OwnLaw> laws, Replacement replacement,
                                int32_t vocabulary);

  const TokenTree& tree() const { return tree_; }
  Law law(int row) const { return laws_[static_cast<size_t>(row)].view(); }
  Replacement replacement() const { return replacement_; }

  // As TokenTree::trim: whole sibling sets, by what is known of their parents.
  int trim(int budget);

 private:
  TokenTree tree_;
  std::vector<OwnLaw> laws_{1};  // [nodes + 1]
  Replacement replacement_ = Replacement::without;
};

}  // namespace slipstream
