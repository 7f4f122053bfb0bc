#include "common/speculation/accept.h"

#include <algorithm>

namespace slipstream {
namespace {

// The children of a node, in the order in which they were drawn, from the first after `after`; -1: no more.
int32_t next_child(const TokenTree& tree, int32_t parent, int32_t after) {
  for (int32_t node = after + 1; node < tree.size(); ++node) {
    if (tree.nodes()[static_cast<size_t>(node)].parent == parent) return node;
  }
  return -1;
}

class Traversal {
 public:
  Traversal(const DraftTree& drawn, TargetLaws& target, Dice& dice, AcceptScratch& scratch)
      : drawn_(drawn), target_(target), dice_(dice), residuals_(scratch.residuals) {
    residuals_.resize(std::max(residuals_.size(), static_cast<size_t>(kTreeDepthMax) + 1));
  }

  // Whether the round ends at this node or below it; of all ways to come here, a share of `reach` does.
  bool ends(int32_t node, size_t depth, double reach) {
    const Law p = target_.after(node + 1);
    if (p.empty()) {
      if (!dice_.accept(reach)) return false;
      walk_.emitted.push_back(-1);
      return true;
    }
    Residual& residual = residuals_[depth];
    residual.begin(p, drawn_.law(node + 1), reach);
    for (int32_t child = next_child(drawn_.tree(), node, node); child >= 0; child = next_child(drawn_.tree(), node, child)) {
      const TokenId token = drawn_.tree().nodes()[static_cast<size_t>(child)].token;
      if (ends(child, depth + 1, residual.ratio(token))) {
        walk_.accepted.push_back(child);
        walk_.emitted.push_back(token);
        return true;
      }
      residual.refuse(token, drawn_.replacement());
    }
    if (!dice_.accept(residual.reach())) return false;
    walk_.emitted.push_back(residual.draw(dice_));
    return true;
  }

  Walk finish() {  // the path was noted from its end
    std::ranges::reverse(walk_.accepted);
    std::ranges::reverse(walk_.emitted);
    return std::move(walk_);
  }

 private:
  const DraftTree& drawn_;
  TargetLaws& target_;
  Dice& dice_;
  std::vector<Residual>& residuals_;
  Walk walk_;
};

}  // namespace

Walk accept_ratio(const DraftTree& drawn, TargetLaws& target, Dice& dice, AcceptScratch& scratch) {
  if (scratch.residuals.empty()) scratch.residuals.emplace_back();
  Residual& residual = scratch.residuals.front();
  Walk walk;
  for (int32_t at = kRoot;;) {
    const Law p = target.after(at + 1);
    if (p.empty()) {
      walk.emitted.push_back(-1);
      return walk;
    }
    residual.begin(p, drawn.law(at + 1));
    int32_t child = next_child(drawn.tree(), at, at);
    for (; child >= 0; child = next_child(drawn.tree(), at, child)) {
      const TokenId token = drawn.tree().nodes()[static_cast<size_t>(child)].token;
      if (dice.accept(residual.ratio(token))) break;
      residual.refuse(token, drawn.replacement());
    }
    if (child < 0) {
      walk.emitted.push_back(residual.draw(dice));
      return walk;
    }
    walk.accepted.push_back(child);
    walk.emitted.push_back(drawn.tree().nodes()[static_cast<size_t>(child)].token);
    at = child;
  }
}

Walk accept_traversal(const DraftTree& drawn, TargetLaws& target, Dice& dice, AcceptScratch& scratch) {
  Traversal traversal(drawn, target, dice, scratch);
  traversal.ends(kRoot, 0, 1.0);
  return traversal.finish();
}

}  // namespace slipstream
