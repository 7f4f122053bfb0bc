// How a tree grows, by the rule of its request: ranked, for greedy and coupled acceptance
// (speculation/tree_growth.h), or sampled, for the ratio family
// (speculation/rejection/sampled_tree_builder.h).
#pragma once

#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "common/messages/generation.h"
#include "common/speculation/rejection/sampled_tree_builder.h"
#include "common/speculation/tree_growth.h"

namespace slipstream {

class Growth {
 public:
  // calibration: of a ranked tree, as TreeGrowth has it. epoch, round: with the request's seed, the
  // key of a sampled tree's random numbers.
  Growth(const StopRule& rule, const Calibration* calibration, const Acceptance& acceptance, const CounterRandom::Key& key);

  std::span<const TreeRow> rows() const {
    return std::visit([](const auto& by) { return by.rows(); }, by_);
  }
  std::span<const TreeRow> frontier() const {
    return std::visit([](const auto& by) { return by.frontier(); }, by_);
  }
  void stop() {
    std::visit([](auto& by) { by.stop(); }, by_);
  }
  DraftTree tree() const {
    return std::visit([](const auto& by) { return DraftTree(by.tree()); }, by_);
  }

  TreeGrowth* ranked() { return std::get_if<TreeGrowth>(&by_); }  // null: the tree is sampled
  const TreeGrowth* ranked() const { return std::get_if<TreeGrowth>(&by_); }

  // Samples the children of the frontier. logits_of: [vocabulary] after each of its rows, valid
  // until the next call. REQUIRES: the tree is sampled.
  void sample(const std::function<std::span<const float>(size_t row)>& logits_of, const SamplingParams& sampling,
              ChainScratch& scratch);

 private:
  std::variant<TreeGrowth, SampledTreeBuilder> by_;
  CounterRandom random_;
};

}  // namespace slipstream
