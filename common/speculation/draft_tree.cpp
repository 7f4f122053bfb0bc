#include "common/speculation/draft_tree.h"

#include <algorithm>

#include "common/base/check.h"

namespace slipstream {
namespace {

Result<void> check_law(const OwnLaw& law, int row, int32_t vocabulary) {
  if (law.ids.empty()) return fail("row {} has children and no law: send the one they were drawn from", row);
  if (law.ids.size() > kDraftLawTokensMax || law.ids.size() != law.weights.size()) {
    return fail("the law of row {} has {} tokens and {} weights: send as many of each, at most {}", row, law.ids.size(),
                law.weights.size(), kDraftLawTokensMax);
  }
  uint64_t total = 0;
  for (size_t i = 0; i < law.ids.size(); ++i) {
    const TokenId least = i == 0 ? 0 : law.ids[i - 1] + 1;
    if (law.ids[i] < least || law.ids[i] >= vocabulary) {
      return fail("the law of row {} has token {} in place {}: send ids from {} to {}, ascending", row, law.ids[i], i, least,
                  vocabulary - 1);
    }
    if (law.weights[i] == 0 || law.weights[i] > kDraftLawTotal) {
      return fail("the law of row {} gives token {} the weight {}: send 1 to {}", row, law.ids[i], law.weights[i],
                  kDraftLawTotal);
    }
    total += law.weights[i];
  }
  if (total != law.total || total != kDraftLawTotal) {
    return fail("the weights of the law of row {} add up to {}: they must make {}", row, total, kDraftLawTotal);
  }
  return {};
}

}  // namespace

Result<DraftTree> DraftTree::make(std::vector<TreeNode> nodes, std::vector<OwnLaw> laws, Replacement replacement,
                                  int32_t vocabulary) {
  const Siblings siblings = replacement == Replacement::with ? Siblings::may_repeat : Siblings::distinct;
  DraftTree drawn;
  TRY(drawn.tree_, TokenTree::make(std::move(nodes), vocabulary, siblings));
  const auto rows = static_cast<size_t>(drawn.tree_.size()) + 1;
  if (laws.size() != rows)
    return fail("a tree of {} rows has {} laws: send one a row, empty where it has no children", rows, laws.size());
  std::vector<bool> parent(rows, false);
  for (const TreeNode& node : drawn.tree_.nodes()) parent[static_cast<size_t>(node.parent + 1)] = true;
  for (size_t row = 0; row < rows; ++row) {
    if (parent[row]) {
      TRY_VOID(check_law(laws[row], static_cast<int>(row), vocabulary));
    } else if (!laws[row].ids.empty() || laws[row].total != 0) {
      return fail("row {} has a law and no children: send none", row);
    }
  }
  for (const TreeNode& node : drawn.tree_.nodes()) {
    const auto row = static_cast<size_t>(node.parent + 1);
    if (laws[row].view().weight(node.token) == 0) {
      return fail("token {} was not drawn from the law of its row {}, which cannot give it", node.token, row);
    }
  }
  drawn.laws_ = std::move(laws);
  drawn.replacement_ = replacement;
  return drawn;
}

DraftTree DraftTree::certain(const TokenTree& tree) {
  std::vector<OwnLaw> laws(static_cast<size_t>(tree.size()) + 1);
  for (const TreeNode& node : tree.nodes()) laws[static_cast<size_t>(node.parent + 1)].add(node.token, kDraftLawTotal);
  auto drawn = make({tree.nodes().begin(), tree.nodes().end()}, std::move(laws), Replacement::without, INT32_MAX);
  CHECK(drawn, "no chain: {}", drawn.error().message);
  return *std::move(drawn);
}

std::vector<int32_t> DraftTree::trim(int budget) {
  std::vector<int32_t> stayed = tree_.trim(budget);
  if (laws_.empty()) return stayed;
  std::vector<bool> parent(stayed.size() + 1, false);
  for (const TreeNode& node : tree_.nodes()) parent[static_cast<size_t>(node.parent + 1)] = true;
  std::vector<OwnLaw> laws(stayed.size() + 1);
  for (size_t row = 0; row < laws.size(); ++row) {
    const size_t was = row == 0 ? 0 : static_cast<size_t>(stayed[row - 1]) + 1;
    if (parent[row]) laws[row] = std::move(laws_[was]);
  }
  laws_ = std::move(laws);
  return stayed;
}

}  // namespace slipstream
