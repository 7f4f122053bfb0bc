// A drafted tree of next tokens.
//
// Invariants of a TokenTree that came out of make():
//   1. at most kTreeNodesMax nodes, at most kTreeDepthMax deep;
//   2. a parent's index is smaller than its children's; kRoot is the last emitted token and is no
//      node itself;
//   3. tokens are in [0, vocabulary); siblings carry different ones, unless they may repeat
//      (sampled with replacement);
//   4. survival is in [0, 1] and no larger than the parent's.
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

  // Errors name the node and the invariant it breaks. A tree from a peer passes here before
  // anything else sees it.
  static Result<TokenTree> make(std::vector<TreeNode> nodes, int32_t vocabulary, Siblings siblings = Siblings::distinct);
  // A chain t1 -> t2 -> ... whose survivals are confidence, confidence^2, ... Truncates at the
  // limits.
  static TokenTree chain(std::span<const TokenId> tokens, float confidence);

  std::span<const TreeNode> nodes() const { return nodes_; }
  int size() const { return static_cast<int>(nodes_.size()); }
  bool empty() const { return nodes_.empty(); }
  int depth(int node) const;  // 1 for a child of the root
  int depth() const;          // of its deepest node; 0 without nodes
  // The first child of `parent` (a node or kRoot) that carries this token, or -1.
  int child(int parent, TokenId token) const;

  // Keeps at most `budget` nodes, cutting whole sibling sets by the parent's survival (adr/0008:
  // never by the token sampled), least surviving first. Whether a set stays depends on nodes
  // outside of it and of what is below it alone. Returns where each node that stays was: [size()]
  // ascending.
  std::vector<int32_t> trim(int budget);

 private:
  std::vector<TreeNode> nodes_;
};

}  // namespace slipstream
