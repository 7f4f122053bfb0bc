#include "common/speculation/tree_rows.h"

namespace slipstream {

static_assert(kTreeNodesMax + 1 <= 64, "one word holds a row's ancestors");

// Parents come before children (token_tree.h), so a parent's row is complete when its child is
// added.
std::vector<TreeRow> tree_rows(const TokenTree& tree) {
  std::vector<TreeRow> rows{TreeRow{}};
  rows.reserve(static_cast<size_t>(tree.size()) + 1);
  for (const TreeNode& node : tree.nodes()) {
    const auto parent = static_cast<size_t>(node.parent + 1);
    rows.push_back({.token = node.token,
                    .parent = node.parent + 1,
                    .depth = rows[parent].depth + 1,
                    .ancestors = rows[parent].ancestors | uint64_t{1} << rows.size()});
  }
  return rows;
}

}  // namespace slipstream
