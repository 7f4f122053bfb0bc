#include "common/speculation/rejection/sampled_tree_builder.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "common/base/check.h"

namespace slipstream {

// A sibling set larger than the whole budget would give no tree at all, so sets are narrowed to it.
SampledTreeBuilder::SampledTreeBuilder(const SampledShape& shape) : shape_(shape) {
  shape_.stop.nodes_max = std::min(shape_.stop.nodes_max, kTreeNodesMax);
  shape_.stop.depth_max = std::min(shape_.stop.depth_max, kTreeDepthMax);
  distributions_.resize(1);
  if (shape_.stop.nodes_max < 1 || shape_.stop.depth_max < 1) return;
  shape_.root_children = std::min(shape_.root_children, shape_.stop.nodes_max);
  shape_.children = std::min(shape_.children, shape_.stop.nodes_max);
  rows_.push_back({});
  node_of_row_.push_back(-1);
}

// Samples all children that q has, or none: what was sampled never cuts a sibling set.
void SampledTreeBuilder::sample_children(size_t row, const TokenDistribution& q, RandomSource& random) {
  const int32_t parent = node_of_row_[row];
  const int32_t wanted = parent < 0 ? shape_.root_children : shape_.children;
  const auto count =
      shape_.replacement == Replacement::with ? wanted : std::min<int32_t>(wanted, static_cast<int32_t>(q.ids.size()));
  if (static_cast<int>(nodes_.size()) + count > shape_.stop.nodes_max || count == 0) return;
  const float reached = parent < 0 ? 1.0F : nodes_[static_cast<size_t>(parent)].survival;
  std::vector<TokenId> taken;
  for (int32_t i = 0; i < count; ++i) {
    const TokenId token = random.draw(q, taken);
    const auto chance = static_cast<float>(q.probability(token));
    nodes_.push_back({.token = token, .parent = parent, .survival = reached * std::min(chance, 1.0F)});
    distributions_.emplace_back();
    if (shape_.replacement == Replacement::without) taken.insert(std::ranges::lower_bound(taken, token), token);
  }
  distributions_[static_cast<size_t>(parent + 1)] = {
      {q.ids.begin(), q.ids.end()}, {q.weights.begin(), q.weights.end()}, q.total};
}

// Samples the children of the frontier, then selects the next one: nodes of the new depth, the
// likeliest first, as many as the budget has room for whole sibling sets, down to the threshold.
// That is decided by survivals, before any child is sampled (adr/0008).
void SampledTreeBuilder::add(std::span<const TokenDistribution> distributions, RandomSource& random) {
  CHECK(distributions.size() == frontier().size(), "distributions of {} rows for a frontier of {}", distributions.size(),
        frontier().size());
  const size_t end = rows_.size();
  const size_t older = nodes_.size();
  for (size_t i = 0; i < distributions.size(); ++i) sample_children(first_ + i, distributions[i], random);
  const int32_t depth = rows_.empty() ? 0 : rows_.back().depth + 1;
  const size_t frontier_began = std::exchange(first_, end);
  if (depth >= shape_.stop.depth_max || static_cast<int>(nodes_.size()) + shape_.children > shape_.stop.nodes_max) return;

  std::vector<int32_t> order(nodes_.size() - older);
  std::iota(order.begin(), order.end(), static_cast<int32_t>(older));
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](int32_t at) { return nodes_[static_cast<size_t>(at)].survival; });
  const auto room = static_cast<size_t>((shape_.stop.nodes_max - static_cast<int>(nodes_.size())) / shape_.children);
  order.resize(std::min(order.size(), room));
  for (const int32_t at : order) {
    const TreeNode& node = nodes_[static_cast<size_t>(at)];
    if (1.0F - node.survival > shape_.stop.threshold) break;
    size_t parent = frontier_began;
    while (node_of_row_[parent] != node.parent) ++parent;
    const auto row = static_cast<int32_t>(rows_.size());
    rows_.push_back({.token = node.token,
                     .parent = static_cast<int32_t>(parent),
                     .depth = depth,
                     .ancestors = rows_[parent].ancestors | uint64_t{1} << row});
    node_of_row_.push_back(at);
  }
}

void SampledTreeBuilder::stop() {
  rows_.resize(first_);
  node_of_row_.resize(first_);
}

DraftTree SampledTreeBuilder::tree() const {
  auto tree = DraftTree::make(nodes_, distributions_, shape_.replacement,
                              std::numeric_limits<int32_t>::max());  // ids are the model's own
  CHECK(tree, "the sampled tree is not valid: {}", tree.error().message);
  return *std::move(tree);
}

}  // namespace slipstream
