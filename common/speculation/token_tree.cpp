#include "common/speculation/token_tree.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/base/check.h"

namespace slipstream {
namespace {

// Error messages count nodes from 0, as TreeNode::parent does. Earlier nodes have been checked.
Result<void> check_node(std::span<const TreeNode> nodes, int at, int32_t vocabulary, Siblings siblings) {
  const TreeNode& node = nodes[at];
  if (node.token < 0 || node.token >= vocabulary) {
    return fail("tree node {} carries token {}: the vocabulary has ids 0 to {}", at, node.token, vocabulary - 1);
  }
  if (node.parent < kRoot || node.parent >= at) {
    return fail("tree node {} has parent {}: parents come before their children, {} is the root", at, node.parent, kRoot);
  }
  const float reached = node.parent == kRoot ? 1.0F : nodes[node.parent].survival;
  if (!(node.survival >= 0 && node.survival <= reached)) {
    return fail("tree node {} has survival {}: send a number from 0 to its parent's {}", at, node.survival, reached);
  }
  for (int other = 0; other < at && siblings == Siblings::distinct; ++other) {
    if (nodes[other].parent == node.parent && nodes[other].token == node.token) {
      return fail("tree nodes {} and {} are siblings with the same token {}: send it once", other, at, node.token);
    }
  }
  return {};
}

}  // namespace

// Depths are counted after each node's parent was checked, so following parents always ends.
Result<TokenTree> TokenTree::make(std::vector<TreeNode> nodes, int32_t vocabulary, Siblings siblings) {
  if (nodes.size() > kTreeNodesMax) return fail("the tree has {} nodes: send at most {}", nodes.size(), kTreeNodesMax);
  TokenTree tree;
  tree.nodes_ = std::move(nodes);
  for (int node = 0; node < tree.size(); ++node) {
    TRY_VOID(check_node(tree.nodes_, node, vocabulary, siblings));
    if (const int depth = tree.depth(node); depth > kTreeDepthMax) {
      return fail("tree node {} is {} deep: send at most {}", node, depth, kTreeDepthMax);
    }
  }
  return tree;
}

TokenTree TokenTree::chain(std::span<const TokenId> tokens, float confidence) {
  CHECK(confidence >= 0 && confidence <= 1, "a confidence is a probability, got {}", confidence);
  TokenTree tree;
  float survival = 1.0F;
  for (TokenId token : tokens.first(std::min<size_t>(tokens.size(), std::min(kTreeNodesMax, kTreeDepthMax)))) {
    survival *= confidence;
    tree.nodes_.push_back({.token = token, .parent = tree.size() - 1, .survival = survival});
  }
  return tree;
}

int TokenTree::depth(int node) const {
  int depth = 0;
  for (; node != kRoot; node = nodes_[node].parent) ++depth;
  return depth;
}

int TokenTree::depth() const {
  int deepest = 0;
  for (int node = 0; node < size(); ++node) deepest = std::max(deepest, depth(node));
  return deepest;
}

int TokenTree::child(int parent, TokenId token) const {
  for (int node = parent + 1; node < size(); ++node) {
    if (nodes_[node].parent == parent && nodes_[node].token == token) return node;
  }
  return -1;
}

// O(cuts * nodes), with at most kTreeNodesMax nodes.
std::vector<int32_t> TokenTree::trim(int budget) {
  const int before = size();
  std::vector<int> children(nodes_.size() + 1, 0);  // of the root, then of each node
  for (const TreeNode& node : nodes_) ++children[node.parent + 1];
  std::vector<bool> kept(nodes_.size(), true);
  for (int left = before; left > std::max(budget, 0);) {
    // The parent with the smallest survival, the last one on ties. Its children have no children
    // left: a child survives at most as its parent does and comes after it, so its own set was cut
    // before.
    int least = -2;
    for (int parent = kRoot; parent < before; ++parent) {
      if (children[parent + 1] == 0) continue;
      const auto survival = [&](int node) { return node == kRoot ? 1.0F : nodes_[node].survival; };
      if (least == -2 || survival(parent) <= survival(least)) least = parent;
    }
    left -= std::exchange(children[least + 1], 0);
    for (int node = 0; node < before; ++node) kept[node] = kept[node] && nodes_[node].parent != least;
  }
  std::vector<int32_t> stay;
  for (int node = 0; node < before; ++node) {
    if (kept[node]) stay.push_back(node);
  }
  return keep(stay);
}

std::vector<int32_t> TokenTree::keep(std::span<const int32_t> nodes) {
  std::vector<bool> kept(nodes_.size(), false);
  for (const int32_t node : nodes) kept[node] = true;
  std::vector<int32_t> moved(nodes_.size()), stayed;
  for (int node = 0; node < static_cast<int>(kept.size()); ++node) {
    if (!kept[node]) continue;
    moved[node] = static_cast<int32_t>(stayed.size());
    TreeNode copy = nodes_[node];
    if (copy.parent != kRoot) copy.parent = moved[copy.parent];
    nodes_[stayed.size()] = copy;
    stayed.push_back(node);
  }
  nodes_.resize(stayed.size());
  return stayed;
}

TokenTree TokenTree::with_survivals(std::span<const float> survivals) const {
  TokenTree tree = *this;
  for (size_t node = 0; node < nodes_.size(); ++node) tree.nodes_[node].survival = survivals[node];
  return tree;
}

std::vector<int32_t> best_first(std::span<const float> values) {
  std::vector<int32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](int32_t node) { return values[static_cast<size_t>(node)]; });
  return order;
}

}  // namespace slipstream
