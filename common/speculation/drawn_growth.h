// Draws a tree level by level from a draft model's laws, for the ratio family. A node gets its children all at once or not at
// all, decided before they are drawn and by survivals only: the likeliest nodes of the newest depth first, as long as whole
// sibling sets fit the budget. No set is larger than the budget: a small one is a narrow tree, not none.
//
//   DrawnGrowth growth(shape);
//   while (!growth.frontier().empty()) growth.add(<the law after each of the frontier, by a forward pass>, dice);
//   DraftTree tree = growth.tree();
#pragma once

#include <span>
#include <vector>

#include "common/sampling/dice.h"
#include "common/speculation/draft_tree.h"
#include "common/speculation/stop_rule.h"
#include "common/speculation/tree_growth.h"

namespace slipstream {

// A chain is 1, 1; a tree k, k; M parallel drafts (Algorithm 4 of 2411.00841) M, 1 with replacement.
struct DrawShape {
  StopRule stop;              // nodes, depth, and the survival below which a node gets no children
  int32_t root_children = 1;  // each at least 1, at most kSiblingsMax
  int32_t children = 1;
  Replacement replacement = Replacement::without;
};

class DrawnGrowth {
 public:
  explicit DrawnGrowth(const DrawShape& shape);

  using Row = TreeGrowth::Row;
  std::span<const Row> frontier() const { return std::span(rows_).subspan(first_); }
  std::span<const Row> rows() const { return rows_; }

  // laws: [frontier], quantised; an empty one: that row gets no children.
  void add(std::span<const Law> laws, Dice& dice);
  void stop();  // the frontier gets no children

  DraftTree tree() const;  // of what has been drawn so far

 private:
  void draw(size_t row, const Law& law, Dice& dice);

  DrawShape shape_;
  std::vector<TreeNode> nodes_;
  std::vector<OwnLaw> laws_;          // [nodes + 1]
  std::vector<Row> rows_;             // that were forwarded or are to be
  std::vector<int32_t> node_of_row_;  // -1: the root
  size_t first_ = 0;                  // of the frontier
};

}  // namespace slipstream
