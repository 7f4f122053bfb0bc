#include "common/speculation/rejection/draft_tree.h"

#include <algorithm>

#include "common/base/check.h"

namespace slipstream {
namespace {

// Invariant 3. The weights must add up exactly: the rules compute q(x) = weight / total.
Result<void> check_distribution(const OwnedDistribution& distribution, int row, int32_t vocabulary) {
  if (distribution.ids.empty())
    return fail("row {} has children and no distribution: send the one they were sampled from", row);
  if (distribution.ids.size() > kDraftDistributionTokensMax || distribution.ids.size() != distribution.weights.size()) {
    return fail("the distribution of row {} has {} tokens and {} weights: send as many of each, at most {}", row,
                distribution.ids.size(), distribution.weights.size(), kDraftDistributionTokensMax);
  }
  uint64_t total = 0;
  for (size_t i = 0; i < distribution.ids.size(); ++i) {
    const TokenId least = i == 0 ? 0 : distribution.ids[i - 1] + 1;
    if (distribution.ids[i] < least || distribution.ids[i] >= vocabulary) {
      return fail("the distribution of row {} has token {} in place {}: send ids from {} to {}, ascending", row,
                  distribution.ids[i], i, least, vocabulary - 1);
    }
    if (distribution.weights[i] == 0 || distribution.weights[i] > kDraftDistributionTotal) {
      return fail("the distribution of row {} gives token {} the weight {}: send 1 to {}", row, distribution.ids[i],
                  distribution.weights[i], kDraftDistributionTotal);
    }
    total += distribution.weights[i];
  }
  if (total != distribution.total || total != kDraftDistributionTotal) {
    return fail("the weights of the distribution of row {} add up to {}: they must make {}", row, total,
                kDraftDistributionTotal);
  }
  return {};
}

}  // namespace

// The tokens first: the checks of the distributions rely on valid parents.
Result<DraftTree> DraftTree::make(std::vector<TreeNode> nodes, std::vector<OwnedDistribution> distributions,
                                  Replacement replacement, int32_t vocabulary) {
  const Siblings siblings = replacement == Replacement::with ? Siblings::may_repeat : Siblings::distinct;
  DraftTree tree;
  TRY(tree.tokens_, TokenTree::make(std::move(nodes), vocabulary, siblings));
  const auto rows = static_cast<size_t>(tree.tokens_.size()) + 1;
  if (distributions.size() != rows)
    return fail("a tree of {} rows has {} distributions: send one for each row, empty where it has no children", rows,
                distributions.size());
  std::vector<bool> parent(rows, false);
  for (const TreeNode& node : tree.tokens_.nodes()) parent[static_cast<size_t>(node.parent + 1)] = true;
  for (size_t row = 0; row < rows; ++row) {
    if (parent[row]) {
      TRY_VOID(check_distribution(distributions[row], static_cast<int>(row), vocabulary));
    } else if (!distributions[row].ids.empty() || distributions[row].total != 0) {
      return fail("row {} has a distribution and no children: send none", row);
    }
  }
  // Invariant 4. Residual::acceptance() would abort on a token that q cannot give.
  for (const TreeNode& node : tree.tokens_.nodes()) {
    const auto row = static_cast<size_t>(node.parent + 1);
    if (distributions[row].view().weight(node.token) == 0) {
      return fail("token {} was not sampled from the distribution of its row {}, which cannot give it", node.token, row);
    }
  }
  tree.distributions_ = std::move(distributions);
  tree.replacement_ = replacement;
  return tree;
}

DraftTree DraftTree::certain(const TokenTree& tokens) {
  std::vector<OwnedDistribution> distributions(static_cast<size_t>(tokens.size()) + 1);
  for (const TreeNode& node : tokens.nodes())
    distributions[static_cast<size_t>(node.parent + 1)].add(node.token, kDraftDistributionTotal);
  auto tree = make({tokens.nodes().begin(), tokens.nodes().end()}, std::move(distributions), Replacement::without, INT32_MAX);
  CHECK(tree, "no chain: {}", tree.error().message);
  return *std::move(tree);
}

// The tokens decide what is cut. Sets are cut whole, so a row keeps its distribution or loses it: a
// row whose children were cut must have none (invariant 2).
std::vector<int32_t> DraftTree::trim(int budget) {
  if (distributions_.empty()) {
    std::vector<float> survivals;
    for (const TreeNode& node : nodes()) survivals.push_back(node.survival);
    const std::vector<int32_t> order = best_first(survivals);
    return keep(std::span(order).first(std::min(order.size(), static_cast<size_t>(std::max(budget, 0)))));
  }
  std::vector<int32_t> stayed = tokens_.trim(budget);
  std::vector<bool> parent(stayed.size() + 1, false);
  for (const TreeNode& node : tokens_.nodes()) parent[static_cast<size_t>(node.parent + 1)] = true;
  std::vector<OwnedDistribution> distributions(stayed.size() + 1);
  for (size_t row = 0; row < distributions.size(); ++row) {
    const size_t was = row == 0 ? 0 : static_cast<size_t>(stayed[row - 1]) + 1;  // row i + 1 is node i; the root stays
    if (parent[row]) distributions[row] = std::move(distributions_[was]);
  }
  distributions_ = std::move(distributions);
  return stayed;
}

std::vector<int32_t> DraftTree::keep(std::span<const int32_t> nodes) {
  CHECK(distributions_.empty(), "a sampled tree of {} nodes is cut by nodes", size());
  return tokens_.keep(nodes);
}

}  // namespace slipstream
