#include "services/verifier/grammar_draft.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "common/base/check.h"

namespace slipstream {
namespace {

struct Candidate {
  TreeNode node;
  std::vector<TokenId> path;  // its own token last
};

// [allowed tokens] the children behind a path, if the grammar leaves few.
std::vector<Candidate> children(GrammarGuide& guide, const std::vector<TokenId>& path, int32_t parent, float survival) {
  std::vector<Candidate> children;
  const GrammarGuide::Mask mask = guide.allowed_after(path);
  const int choices = mask == nullptr ? 0 : mask->count();
  if (choices == 0 || choices > kGuessedTokensMax) return children;
  for (const TokenId token : mask->tokens()) {
    Candidate& child = children.emplace_back(Candidate{
        .node = {.token = token, .parent = parent, .survival = survival / static_cast<float>(choices)}, .path = path});
    child.path.push_back(token);
  }
  return children;
}

}  // namespace

TokenTree grammar_tree(GrammarGuide& guide, const StopRule& rule) {
  std::vector<TreeNode> nodes;
  std::vector<Candidate> open = children(guide, {}, kRoot, 1.0F);  // the oldest first
  while (!open.empty()) {
    const auto best = std::ranges::max_element(open, {}, [](const Candidate& candidate) { return candidate.node.survival; });
    const Candidate next = std::move(*best);
    open.erase(best);
    const auto depth = static_cast<int>(next.path.size());
    if (!rule.admits(next.node.survival, depth, static_cast<int>(nodes.size()))) break;
    nodes.push_back(next.node);
    if (depth == rule.depth_max) continue;
    for (Candidate& child : children(guide, next.path, static_cast<int32_t>(nodes.size()) - 1, next.node.survival)) {
      open.push_back(std::move(child));
    }
  }
  auto tree = TokenTree::make(std::move(nodes), std::numeric_limits<int32_t>::max());
  CHECK(tree, "{}", tree.error().message);
  return *std::move(tree);
}

}  // namespace slipstream
