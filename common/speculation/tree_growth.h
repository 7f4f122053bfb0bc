// Grows one tree best-first and level by level (the expansion of EAGLE-2, 2406.16858, Section 4):
// each level forwards the nodes of the newest depth that are among the best nodes_max so far, by
// survival; their candidates join the pool; in the end the best nodes_max of all make the tree. A
// child survives no more than its parent, so a node that is not among the best cannot have a child
// that is, and the tree is exactly what forwarding every node would give.
//
//   TreeGrowth growth(rule);
//   while (!growth.frontier().empty()) growth.add(<candidates of each of the frontier, by a forward pass>);
//   TokenTree tree = growth.tree();
//
// What is kept depends on survivals only. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/sampling/rank.h"
#include "common/speculation/stop_rule.h"
#include "common/speculation/token_tree.h"
#include "common/speculation/tree_rows.h"

namespace slipstream {

class TreeGrowth {
 public:
  explicit TreeGrowth(const StopRule& rule);

  // A node that was forwarded or is to be. Rows count the forwarded ones in their order: row 0 is
  // the root, and rows of one growth never exceed kTreeNodesMax + 1, so that a 64-bit mask holds
  // their ancestors.
  using Row = TreeRow;
  // What to forward now, the root first of all; empty: grown.
  std::span<const Row> frontier() const { return std::span(rows_).subspan(first_); }
  std::span<const Row> rows() const { return rows_; }  // all so far, the frontier last

  // candidates: [frontier] of each row, most likely first (sampling/rank.h).
  void add(std::span<const std::span<const Ranked>> candidates);
  void stop();  // the frontier will not be forwarded, and nothing behind it

  TokenTree tree() const;  // of what has been added so far

 private:
  struct Candidate {
    TokenId token = 0;
    int32_t parent = -1;  // candidate; -1: a child of the root
    int32_t row = -1;     // that it was given; -1: not forwarded
    int32_t depth = 1;
    float survival = 1.0F;
  };
  std::vector<int32_t> best() const;  // at most nodes_max candidates, most surviving first, parents before children

  StopRule rule_;
  std::vector<Candidate> pool_;
  std::vector<Row> rows_;
  std::vector<int32_t> candidate_of_row_;  // -1: the root
  size_t first_ = 0;                       // of the frontier
};

}  // namespace slipstream
