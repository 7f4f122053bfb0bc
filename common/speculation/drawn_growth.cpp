#include "common/speculation/drawn_growth.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "common/base/check.h"

namespace slipstream {

DrawnGrowth::DrawnGrowth(const DrawShape& shape) : shape_(shape) {
  shape_.stop.nodes_max = std::min(shape_.stop.nodes_max, kTreeNodesMax);
  shape_.stop.depth_max = std::min(shape_.stop.depth_max, kTreeDepthMax);
  laws_.resize(1);
  if (shape_.stop.nodes_max < 1 || shape_.stop.depth_max < 1) return;
  shape_.root_children = std::min(shape_.root_children, shape_.stop.nodes_max);
  shape_.children = std::min(shape_.children, shape_.stop.nodes_max);
  rows_.push_back({});
  node_of_row_.push_back(-1);
}

// All children that the law has, or none: a sibling set is never cut by what was drawn.
void DrawnGrowth::draw(size_t row, const Law& law, Dice& dice) {
  const int32_t parent = node_of_row_[row];
  const int32_t wanted = parent < 0 ? shape_.root_children : shape_.children;
  const auto count =
      shape_.replacement == Replacement::with ? wanted : std::min<int32_t>(wanted, static_cast<int32_t>(law.ids.size()));
  if (static_cast<int>(nodes_.size()) + count > shape_.stop.nodes_max || count == 0) return;
  const float reached = parent < 0 ? 1.0F : nodes_[static_cast<size_t>(parent)].survival;
  std::vector<TokenId> taken;
  for (int32_t i = 0; i < count; ++i) {
    const TokenId token = dice.draw(law, taken);
    const auto chance = static_cast<float>(law.probability(token));
    nodes_.push_back({.token = token, .parent = parent, .survival = reached * std::min(chance, 1.0F)});
    laws_.emplace_back();
    if (shape_.replacement == Replacement::without) taken.insert(std::ranges::lower_bound(taken, token), token);
  }
  laws_[static_cast<size_t>(parent + 1)] = {
      {law.ids.begin(), law.ids.end()}, {law.weights.begin(), law.weights.end()}, law.total};
}

void DrawnGrowth::add(std::span<const Law> laws, Dice& dice) {
  CHECK(laws.size() == frontier().size(), "laws of {} rows for a frontier of {}", laws.size(), frontier().size());
  const size_t end = rows_.size();
  const size_t older = nodes_.size();
  for (size_t i = 0; i < laws.size(); ++i) draw(first_ + i, laws[i], dice);
  const int32_t depth = rows_.empty() ? 0 : rows_.back().depth + 1;
  const size_t frontier_began = std::exchange(first_, end);
  if (depth >= shape_.stop.depth_max || static_cast<int>(nodes_.size()) + shape_.children > shape_.stop.nodes_max) return;

  // The likeliest first, as many as there is room for their children.
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

void DrawnGrowth::stop() {
  rows_.resize(first_);
  node_of_row_.resize(first_);
}

DraftTree DrawnGrowth::tree() const {
  auto drawn =
      DraftTree::make(nodes_, laws_, shape_.replacement, std::numeric_limits<int32_t>::max());  // ids are the model's own
  CHECK(drawn, "a drawn tree is none: {}", drawn.error().message);
  return *std::move(drawn);
}

}  // namespace slipstream
