#include "common/speculation/tree_mask.h"

namespace slipstream {

static_assert(kTreeNodesMax + 1 <= 64, "one word holds a row's ancestors");

std::vector<uint64_t> tree_mask(const TokenTree& tree) {
  std::vector<uint64_t> mask{1};
  mask.reserve(tree.size() + 1);
  for (const TreeNode& node : tree.nodes()) mask.push_back(mask[node.parent + 1] | uint64_t{1} << mask.size());
  return mask;
}

}  // namespace slipstream
