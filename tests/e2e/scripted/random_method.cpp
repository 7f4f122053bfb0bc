#include "tests/e2e/scripted/random_method.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace slipstream {

void RandomMethod::begin(const DraftKey& key, const GenerationSpec&) { sequences_[key].clear(); }

void RandomMethod::advance(const DraftKey& key, std::span<const TokenId> tokens) {
  sequences_[key].insert(sequences_[key].end(), tokens.begin(), tokens.end());
}

Result<std::vector<Draft>> RandomMethod::draft(std::span<const DraftAsk> asks) {
  std::vector<Draft> trees;
  for (const DraftAsk& ask : asks) trees.push_back(DraftTree(grow(sequences_[ask.key], ask.rule)));
  return trees;
}

void RandomMethod::end(const DraftKey& key) { sequences_.erase(key); }

TokenTree RandomMethod::grow(const std::vector<TokenId>& seen, const StopRule& rule) {
  std::vector<TreeNode> nodes;
  std::vector<int> depth;
  for (int tries = 0; tries < 4 * rule.nodes_max && static_cast<int>(nodes.size()) < rule.nodes_max; ++tries) {
    const int parent = below(static_cast<int>(nodes.size()) + 1) - 1;
    const int level = parent == kRoot ? 1 : depth[static_cast<size_t>(parent)] + 1;
    const TokenId token =
        !seen.empty() && below(2) == 0 ? seen[static_cast<size_t>(below(static_cast<int>(seen.size())))] : below(vocabulary_);
    const auto twin = [&](const TreeNode& node) { return node.parent == parent && node.token == token; };
    if (level > rule.depth_max || std::ranges::any_of(nodes, twin)) continue;
    const float above = parent == kRoot ? 1.0F : nodes[static_cast<size_t>(parent)].survival;
    const float share = std::uniform_real_distribution<float>(0.0F, 1.0F)(random_);
    nodes.push_back({.token = token, .parent = parent, .survival = above * share});
    depth.push_back(level);
  }
  Result<TokenTree> tree = TokenTree::make(std::move(nodes), vocabulary_);
  CHECK(tree, "{}", tree.error().message);
  return *std::move(tree);
}

}  // namespace slipstream
