// One node of a draft tree: a drafted token. speculation/token_tree.h checks a list of nodes and
// makes a tree of it.
#pragma once

#include <cstdint>

#include "common/base/ids.h"

namespace slipstream {

inline constexpr int32_t kRoot = -1;
inline constexpr TokenId kNoVerdict = -1;  // in place of the target's choice after a node that was not verified

struct TreeNode {
  TokenId token = 0;
  int32_t parent = kRoot;  // index of an earlier node, or kRoot
  float survival = 1.0F;   // [0, 1] the drafter's estimate of the probability that the target accepts the path to this node
  bool operator==(const TreeNode&) const = default;
};

}  // namespace slipstream
