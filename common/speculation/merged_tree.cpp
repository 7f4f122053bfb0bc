#include "common/speculation/merged_tree.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/base/check.h"

namespace slipstream {
namespace {

TokenTree tree_of(std::vector<TreeNode> nodes) {
  auto tree = TokenTree::make(std::move(nodes), std::numeric_limits<int32_t>::max());  // both trees' tokens were checked
  CHECK(tree, "two trees made none: {}", tree.error().message);
  return *std::move(tree);
}

}  // namespace

// The union may be larger than a tree. Survivals fall from a parent to its children in it, as they
// do in both trees, so its likeliest nodes are a tree, with parents before their children.
MergedTree merge(const TokenTree& first, const TokenTree& second) {
  std::vector<TreeNode> all(first.nodes().begin(), first.nodes().end());
  std::vector<int32_t> at;  // [nodes of `second`] in `all`
  MergedTree merged;
  for (TreeNode node : second.nodes()) {
    if (node.parent != kRoot) node.parent = at[static_cast<size_t>(node.parent)];
    const int32_t same = node.parent < first.size() ? first.child(node.parent, node.token) : -1;
    if (same < 0) {
      at.push_back(static_cast<int32_t>(all.size()));
      all.push_back(node);
    } else {
      at.push_back(same);
      float& survival = all[static_cast<size_t>(same)].survival;
      survival = std::max(survival, node.survival);
      ++merged.shared;
    }
  }
  std::vector<float> survivals;
  for (const TreeNode& node : all) survivals.push_back(node.survival);
  std::vector<TreeNode> kept;
  std::vector<int32_t> moved(all.size());
  for (const int32_t node : best_first(survivals)) {
    if (kept.size() == static_cast<size_t>(kTreeNodesMax)) break;
    moved[static_cast<size_t>(node)] = static_cast<int32_t>(kept.size());
    TreeNode& copy = kept.emplace_back(all[static_cast<size_t>(node)]);
    if (copy.parent != kRoot) copy.parent = moved[static_cast<size_t>(copy.parent)];
  }
  merged.cut = static_cast<int>(all.size() - kept.size());
  merged.tree = tree_of(std::move(kept));
  return merged;
}

std::vector<int32_t> places(const TokenTree& part, const TokenTree& whole) {
  std::vector<int32_t> places;
  for (const TreeNode& node : part.nodes()) {
    const int32_t parent = node.parent == kRoot ? kRoot : places[static_cast<size_t>(node.parent)];
    const bool below = node.parent == kRoot || parent >= 0;
    places.push_back(below ? whole.child(parent, node.token) : -1);
  }
  return places;
}

}  // namespace slipstream
