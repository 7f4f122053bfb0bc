#include "services/verifier/grammar_guide.h"

#include <algorithm>
#include <utility>

namespace slipstream {
namespace {

// [nodes] the tokens from the root to each node, its own last.
std::vector<std::vector<TokenId>> paths(const TokenTree& tree) {
  std::vector<std::vector<TokenId>> paths;
  for (const TreeNode& node : tree.nodes()) {
    std::vector<TokenId> path = node.parent == kRoot ? std::vector<TokenId>() : paths[static_cast<size_t>(node.parent)];
    path.push_back(node.token);
    paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace

Result<GrammarGuide> GrammarGuide::begin(Grammar grammar, std::vector<TokenId> ends, std::span<const TokenId> output) {
  GrammarGuide guide(std::move(grammar), std::move(ends));
  TRY_VOID(guide.advance(output));
  return guide;
}

Result<void> GrammarGuide::advance(std::span<const TokenId> tokens) {
  masks_.clear();
  TRY_VOID(grammar_.advance(tokens));
  TRY(TokenMask root, grammar_.allowed_after({}));
  masks_.emplace(std::vector<TokenId>(), std::make_shared<const TokenMask>(std::move(root)));
  return {};
}

bool GrammarGuide::ends(TokenId token) const { return std::ranges::find(ends_, token) != ends_.end(); }

GrammarGuide::Mask GrammarGuide::allowed_after(std::span<const TokenId> path) {
  std::vector<TokenId> key(path.begin(), path.end());
  if (const auto known = masks_.find(key); known != masks_.end()) return known->second;
  Mask mask;
  if (!path.empty() && !ends(path.back())) {
    const Mask before = allowed_after(path.first(path.size() - 1));
    if (before != nullptr && before->allows(path.back())) {
      // A grammar that is too complex behind a draft says nothing about the output itself.
      if (auto behind = grammar_.allowed_after(path)) mask = std::make_shared<const TokenMask>(*std::move(behind));
    }
  }
  return masks_.emplace(std::move(key), std::move(mask)).first->second;
}

std::vector<GrammarGuide::Mask> GrammarGuide::masks(const TokenTree& tree) {
  std::vector<Mask> masks{allowed_after({})};
  for (const std::vector<TokenId>& path : paths(tree)) masks.push_back(allowed_after(path));
  return masks;
}

std::vector<int32_t> GrammarGuide::allowed_nodes(const TokenTree& tree) {
  // A row whose own mask is not known could not be sampled from. Behind the last token of the
  // output nobody samples.
  const auto allowed = [this](std::span<const TokenId> path) {
    if (!ends(path.back())) return allowed_after(path) != nullptr;
    const Mask before = allowed_after(path.first(path.size() - 1));
    return before != nullptr && before->allows(path.back());
  };
  std::vector<int32_t> nodes;
  const std::vector<std::vector<TokenId>> all = paths(tree);
  for (size_t node = 0; node < all.size(); ++node) {
    if (allowed(all[node])) nodes.push_back(static_cast<int32_t>(node));
  }
  return nodes;
}

}  // namespace slipstream
