#include "common/speculation/tree_growth.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/base/check.h"

namespace slipstream {
namespace {

constexpr int32_t kNotKept = -2;  // a candidate that is no node of the tree

}  // namespace

TreeGrowth::TreeGrowth(const StopRule& rule, const Calibration* calibration) : rule_(rule), calibration_(calibration) {
  rule_.nodes_max = std::min(rule_.nodes_max, kTreeNodesMax);
  rule_.depth_max = std::min(rule_.depth_max, kTreeDepthMax);
  if (rule_.nodes_max < 1 || rule_.depth_max < 1) return;
  rows_.push_back({});
  candidate_of_row_.push_back(-1);
}

std::vector<int32_t> TreeGrowth::best() const {
  std::vector<int32_t> order(pool_.size());
  std::iota(order.begin(), order.end(), 0);
  // Stable, so that of equal candidates the older one comes first: a parent before its child.
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](int32_t at) { return pool_[static_cast<size_t>(at)].survival; });
  order.resize(std::min(order.size(), static_cast<size_t>(rule_.nodes_max)));
  return order;
}

// Computes chances_. They fall as the confidences do, and add up to at most 1: only one of a row's
// candidates can be right.
void TreeGrowth::propose(size_t row, std::span<const Ranked> candidates) {
  const int depth = rows_[row].depth + 1;
  chances_.clear();
  float sum = 0;
  for (const Ranked& each : candidates) {
    const float confidence = std::clamp(each.confidence, 0.0F, 1.0F);
    chances_.push_back(calibration_ == nullptr ? confidence : calibration_->chance(confidence, depth));
    sum += chances_.back();
  }
  if (calibration_ == nullptr) return;
  for (size_t i = 0; i < candidates.size(); ++i) {
    chances_[i] /= std::max(sum, 1.0F);
    proposed_.push_back({.parent = static_cast<int32_t>(row),
                         .depth = depth,
                         .token = candidates[i].token,
                         .confidence = std::clamp(candidates[i].confidence, 0.0F, 1.0F),
                         .chance = chances_[i]});
  }
}

float TreeGrowth::stated(size_t row) const {
  const int32_t at = candidate_of_row_[first_ + row];
  return at < 0 ? 1.0F : pool_[static_cast<size_t>(at)].confidence;
}

// Gives the node of a frontier's row the survival that its acceptance head predicts. Whether it may
// have children.
bool TreeGrowth::reached(size_t row, std::span<const float> accepted) {
  const int32_t at = candidate_of_row_[row];
  if (accepted.empty() || at < 0) return true;
  const float chance = accepted[row - first_];
  if (std::isnan(chance)) return false;
  Candidate& node = pool_[static_cast<size_t>(at)];
  const float above = node.parent < 0 ? 1.0F : pool_[static_cast<size_t>(node.parent)].survival;
  node.survival = above * std::clamp(chance, 0.0F, 1.0F);
  return rule_.admits(node.survival, node.depth, 0);
}

void TreeGrowth::add(std::span<const std::span<const Ranked>> candidates, std::span<const float> accepted) {
  CHECK(candidates.size() == frontier().size() && (accepted.empty() || accepted.size() == candidates.size()),
        "candidates of {} rows and chances of {} for a frontier of {}", candidates.size(), accepted.size(), frontier().size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!reached(first_ + i, accepted)) continue;
    const int32_t parent = candidate_of_row_[first_ + i];
    const int32_t depth = rows_[first_ + i].depth + 1;
    const float reached = parent < 0 ? 1.0F : pool_[static_cast<size_t>(parent)].survival;
    propose(first_ + i, candidates[i]);
    for (size_t each = 0; each < candidates[i].size(); ++each) {
      const float survival = reached * chances_[each];
      if (!rule_.admits(survival, depth, 0) || candidates[i][each].confidence < rule_.confidence_least) break;  // chances fall
      pool_.push_back({.token = candidates[i][each].token,
                       .parent = parent,
                       .depth = depth,
                       .survival = survival,
                       .confidence = candidates[i][each].confidence});
      if (rule_.chain) break;
    }
  }
  // The next frontier: candidates of the newest depth that may still have a child in the tree.
  const int32_t deepest = rows_.empty() ? 0 : rows_.back().depth + 1;
  first_ = rows_.size();
  if (deepest >= rule_.depth_max) return;
  const std::vector<int32_t> kept = best();
  const bool room = kept.size() < static_cast<size_t>(rule_.nodes_max);
  for (const int32_t at : kept) {
    Candidate& node = pool_[static_cast<size_t>(at)];
    if (node.depth != deepest || rows_.size() > static_cast<size_t>(kTreeNodesMax)) continue;
    // Its best child survives at most as it does, and comes behind older candidates of the same
    // survival. With the tree full, a candidate no better than the last one kept can have no child
    // in it.
    if (!room && node.survival <= pool_[static_cast<size_t>(kept.back())].survival) continue;
    const int32_t parent = node.parent < 0 ? 0 : pool_[static_cast<size_t>(node.parent)].row;
    node.row = static_cast<int32_t>(rows_.size());
    rows_.push_back({.token = node.token,
                     .parent = parent,
                     .depth = deepest,
                     .ancestors = rows_[static_cast<size_t>(parent)].ancestors | uint64_t{1} << node.row});
    candidate_of_row_.push_back(at);
  }
  if (!frontier().empty() && frontier_gain() < rule_.level_price) stop();
}

// A child is taken to be as likely, given its parent, as the parent was given its own.
float TreeGrowth::frontier_gain() const {
  float gain = 0;
  for (size_t row = first_; row < rows_.size(); ++row) {
    const Candidate& node = pool_[static_cast<size_t>(candidate_of_row_[row])];
    const float above = node.parent < 0 ? 1.0F : pool_[static_cast<size_t>(node.parent)].survival;
    gain += above > 0 ? node.survival * node.survival / above : 0;
  }
  return gain;
}

// The frontier's nodes stay candidates; only their rows go, as they are never forwarded.
void TreeGrowth::stop() {
  rows_.resize(first_);
  candidate_of_row_.resize(first_);
}

// best() lists parents before children, so a parent's place is known when its child is added.
TokenTree TreeGrowth::tree() const {
  std::vector<TreeNode> nodes;
  std::vector<int32_t> place(pool_.size(), kRoot);
  for (const int32_t at : best()) {
    const Candidate& node = pool_[static_cast<size_t>(at)];
    place[static_cast<size_t>(at)] = static_cast<int32_t>(nodes.size());
    nodes.push_back({.token = node.token,
                     .parent = node.parent < 0 ? kRoot : place[static_cast<size_t>(node.parent)],
                     .survival = node.survival});
  }
  auto tree = TokenTree::make(std::move(nodes), std::numeric_limits<int32_t>::max());  // ids are the model's own
  CHECK(tree, "a grown tree is none: {}", tree.error().message);
  return *std::move(tree);
}

std::vector<ProposedChild> TreeGrowth::proposed() const {
  std::vector<int32_t> place(pool_.size(), kNotKept);
  const std::vector<int32_t> kept = best();
  for (size_t node = 0; node < kept.size(); ++node) place[static_cast<size_t>(kept[node])] = static_cast<int32_t>(node);
  std::vector<ProposedChild> proposed;
  for (ProposedChild child : proposed_) {
    const int32_t parent = candidate_of_row_[static_cast<size_t>(child.parent)];
    child.parent = parent < 0 ? kRoot : place[static_cast<size_t>(parent)];
    if (child.parent != kNotKept) proposed.push_back(child);
  }
  return proposed;
}

}  // namespace slipstream
