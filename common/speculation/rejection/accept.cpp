#include "common/speculation/rejection/accept.h"

#include <algorithm>

namespace slipstream {
namespace {

// The first child of `parent` behind node `after`, in the order in which the children were sampled;
// -1: there is none.
int32_t next_child(const DraftTree& tree, int32_t parent, int32_t after) {
  for (int32_t node = after + 1; node < tree.size(); ++node) {
    if (tree.nodes()[static_cast<size_t>(node)].parent == parent) return node;
  }
  return -1;
}

TokenId token_of(const DraftTree& tree, int32_t node) { return tree.nodes()[static_cast<size_t>(node)].token; }

// accept_traversal(), recursive: a node's children decide before the node itself does. Each depth
// has its own residual, because a node's is still in use while those below it are asked.
class Traversal {
 public:
  Traversal(const DraftTree& tree, TargetDistributions& target, RandomSource& random, AcceptScratch& scratch)
      : tree_(tree), target_(target), random_(random), residuals_(scratch.residuals) {
    residuals_.resize(std::max(residuals_.size(), static_cast<size_t>(kTreeDepthMax) + 1));
  }

  // Whether the round ends at this node or below it. Averaged over all trees that may be sampled
  // below the node, the answer is yes with probability `reach`. Children are asked before the node
  // itself.
  bool ends_at_or_below(int32_t node, size_t depth, double reach) {
    const TokenDistribution q = tree_.distribution(node + 1);
    const TokenDistribution p = target_.weights_of(node + 1, q.ids);
    if (p.empty()) {
      if (!random_.accept(reach)) return false;
      walk_.emitted.push_back(-1);
      return true;
    }
    Residual& residual = residuals_[depth];
    residual.begin(p, q, reach);
    for (int32_t child = next_child(tree_, node, node); child >= 0; child = next_child(tree_, node, child)) {
      const TokenId x = token_of(tree_, child);
      if (ends_at_or_below(child, depth + 1, residual.acceptance(x))) {
        walk_.accepted.push_back(child);
        walk_.emitted.push_back(x);
        return true;
      }
      residual.reject(x, tree_.replacement());
    }
    if (!random_.accept(residual.reach())) return false;
    walk_.emitted.push_back(residual.draw(random_));
    return true;
  }

  Walk finish() {  // the path was noted from its end to the root
    std::ranges::reverse(walk_.accepted);
    std::ranges::reverse(walk_.emitted);
    return std::move(walk_);
  }

 private:
  const DraftTree& tree_;
  TargetDistributions& target_;
  RandomSource& random_;
  std::vector<Residual>& residuals_;  // [depth]
  Walk walk_;
};

}  // namespace

// From the root down; one residual at a time is enough.
Walk accept_ratio(const DraftTree& tree, TargetDistributions& target, RandomSource& random, AcceptScratch& scratch) {
  if (scratch.residuals.empty()) scratch.residuals.emplace_back();
  Residual& r = scratch.residuals.front();
  Walk walk;
  for (int32_t at = kRoot;;) {
    const TokenDistribution q = tree.distribution(at + 1);
    const TokenDistribution p = target.weights_of(at + 1, q.ids);
    if (p.empty()) {
      walk.emitted.push_back(-1);
      return walk;
    }
    r.begin(p, q);
    int32_t child = next_child(tree, at, at);
    for (; child >= 0; child = next_child(tree, at, child)) {
      const TokenId x = token_of(tree, child);
      if (random.accept(r.acceptance(x))) break;  // u < min(1, p(x) / q(x))
      r.reject(x, tree.replacement());            // p := norm((p - q)+)
    }
    if (child < 0) {
      walk.emitted.push_back(r.draw(random));
      return walk;
    }
    walk.accepted.push_back(child);
    walk.emitted.push_back(token_of(tree, child));
    at = child;
  }
}

Walk accept_traversal(const DraftTree& tree, TargetDistributions& target, RandomSource& random, AcceptScratch& scratch) {
  Traversal traversal(tree, target, random, scratch);
  traversal.ends_at_or_below(kRoot, 0, 1.0);
  return traversal.finish();
}

}  // namespace slipstream
