// A draft tree: the tokens that a drafter guesses behind the last emitted token of a sequence.
//
//   root (last emitted token)     nodes() = {A, parent kRoot}, {B, parent kRoot}, {C, parent 0}
//    +- A - C
//    +- B
//
// Invariants of a TokenTree that came out of make():
//   1. It has at most kTreeNodesMax nodes and is at most kTreeDepthMax deep.
//   2. A parent's index is smaller than its children's. The root is kRoot and is not a node.
//   3. Tokens are in [0, vocabulary). Siblings carry different tokens, unless they may repeat
//      (sampled with replacement).
//   4. A node's survival is in [0, 1] and at most its parent's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/limits.h"
#include "common/base/result.h"
#include "common/base/tree_node.h"

namespace slipstream {

enum class Siblings : uint8_t { distinct, may_repeat };

class TokenTree {
 public:
  TokenTree() = default;  // no nodes: plain decoding

  // Checks the invariants. Every tree from a peer passes here before any other code reads it. An
  // error names the node and the invariant that it breaks.
  static Result<TokenTree> make(std::vector<TreeNode> nodes, int32_t vocabulary, Siblings siblings = Siblings::distinct);
  // A chain t1 -> t2 -> ... with the survivals confidence, confidence^2, ... It ends at the limits
  // of invariant 1. REQUIRES: 0 <= confidence <= 1.
  static TokenTree chain(std::span<const TokenId> tokens, float confidence);

  std::span<const TreeNode> nodes() const { return nodes_; }
  int size() const { return static_cast<int>(nodes_.size()); }
  bool empty() const { return nodes_.empty(); }
  int depth(int node) const;  // 1: a child of the root
  int depth() const;          // of the deepest node; 0: no nodes
  // The first child of `parent` (a node or kRoot) that carries this token; -1: there is none.
  int child(int parent, TokenId token) const;

  // Cuts the tree to at most `budget` nodes. Returns the former index of each node that stays,
  // ascending, [size()].
  //
  // Whole sibling sets are cut, the one whose parent has the smallest survival first. Whether a set
  // stays never depends on its own tokens or on those below it: that would bias the output of the
  // ratio family (adr/0008).
  std::vector<int32_t> trim(int budget);
  // Cuts all nodes but these, which may be in any order. Returns as trim() does. REQUIRES: the
  // parent of a node that is kept is kept.
  std::vector<int32_t> keep(std::span<const int32_t> nodes);
  // The same nodes with other survivals, [size()]. REQUIRES: they fall from a parent to its
  // children.
  TokenTree with_survivals(std::span<const float> survivals) const;

 private:
  std::vector<TreeNode> nodes_;
};

// [size()] the nodes in the order of these values, which fall from a parent to its children: the
// largest first, and of equals the one with the lower index. The first n are always a tree.
std::vector<int32_t> best_first(std::span<const float> values);

}  // namespace slipstream
