// Samples a tree level by level from a draft model's distributions, for the ratio family.
//
//   1. A node gets all its children at once or none. This is decided before they are sampled, and
//      from survivals only.
//   2. The likeliest nodes of the newest depth come first, for as long as whole sibling sets fit
//      the node budget.
//   3. A set is never larger than the budget: a small budget gives a narrow tree instead of none.
//
//   SampledTreeBuilder builder(shape);
//   while (!builder.frontier().empty()) {
//     builder.add(<q after each row of the frontier, by a forward pass>, random);
//   }
//   DraftTree tree = builder.tree();
#pragma once

#include <span>
#include <vector>

#include "common/speculation/rejection/draft_tree.h"
#include "common/speculation/rejection/random_source.h"
#include "common/speculation/stop_rule.h"
#include "common/speculation/tree_growth.h"

namespace slipstream {

// A chain is 1, 1; a tree k, k; M parallel drafts (Algorithm 4 of 2411.00841) M, 1 with
// replacement.
struct SampledShape {
  StopRule stop;              // nodes, depth, and the survival below which a node gets no children
  int32_t root_children = 1;  // each at least 1, at most kSiblingsMax
  int32_t children = 1;
  Replacement replacement = Replacement::without;
};

class SampledTreeBuilder {
 public:
  explicit SampledTreeBuilder(const SampledShape& shape);

  using Row = TreeGrowth::Row;
  std::span<const Row> frontier() const { return std::span(rows_).subspan(first_); }
  std::span<const Row> rows() const { return rows_; }

  // distributions: [frontier] quantised q; a row with an empty one gets no children.
  void add(std::span<const TokenDistribution> distributions, RandomSource& random);
  void stop();  // the frontier gets no children

  DraftTree tree() const;  // what has been sampled so far

 private:
  void sample_children(size_t row, const TokenDistribution& q, RandomSource& random);

  SampledShape shape_;
  std::vector<TreeNode> nodes_;
  std::vector<OwnedDistribution> distributions_;  // [nodes + 1]
  std::vector<Row> rows_;                         // forwarded, or to be forwarded
  std::vector<int32_t> node_of_row_;              // -1: the root
  size_t first_ = 0;                              // row where the frontier begins
};

}  // namespace slipstream
