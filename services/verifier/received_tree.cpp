#include "services/verifier/received_tree.h"

#include <vector>

namespace slipstream {

Result<DraftTree> tree_of(const Tree& message, const Acceptance& acceptance, int32_t vocabulary) {
  if (!is_sampled(acceptance.rule)) {
    TRY(TokenTree tree, TokenTree::make(message.nodes, vocabulary));
    return DraftTree(std::move(tree));
  }
  if (message.nodes.empty()) return DraftTree();
  std::vector<OwnedDistribution> distributions;
  for (const DraftDistribution& shipped : message.distributions) {
    if (shipped.ids.size() != shipped.weights.size())
      return fail("{} ids, {} weights", shipped.ids.size(), shipped.weights.size());
    OwnedDistribution& distribution = distributions.emplace_back();
    for (size_t i = 0; i < shipped.ids.size(); ++i) distribution.add(shipped.ids[i], shipped.weights[i]);
  }
  const Replacement replacement = acceptance.repeats ? Replacement::with : Replacement::without;
  TRY(DraftTree tree, DraftTree::make(message.nodes, std::move(distributions), replacement, vocabulary));
  for (int node = 0; is_biased(acceptance.rule) && node < tree.size(); ++node) {
    const int32_t parent = tree.nodes()[static_cast<size_t>(node)].parent;
    if (parent != node - 1) return fail("node {} is a child of {}: a chain was asked for", node, parent);
  }
  return tree;
}

size_t cut(DraftTree& tree, const TreeBounds& bounds) {
  const int before = tree.size();
  std::vector<int32_t> shallow;
  for (int node = 0; node < before; ++node) {
    if (tree.depth(node) <= bounds.depth) shallow.push_back(node);
  }
  tree.keep(shallow);
  tree.trim(bounds.nodes);
  return static_cast<size_t>(before - tree.size());
}

}  // namespace slipstream
