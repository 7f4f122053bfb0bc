// One drafted token. The wire carries it, speculation/token_tree.h makes trees of it.
#pragma once

#include <cstdint>

#include "common/base/ids.h"

namespace slipstream {

inline constexpr int32_t kRoot = -1;

struct TreeNode {
  TokenId token = 0;
  int32_t parent = kRoot;  // index of another node, or kRoot
  float survival = 1.0F;   // the drafter's estimate that the target reaches and accepts this node
  bool operator==(const TreeNode&) const = default;
};

}  // namespace slipstream
