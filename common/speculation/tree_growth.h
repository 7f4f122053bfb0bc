// Grows a draft tree best-first, one level per forward pass (EAGLE-2, 2406.16858, Section 4):
//
//   1. frontier() is the nodes to forward: first the root, then the nodes of the newest depth that
//      are among the best nodes_max of all candidates so far.
//   2. add() puts the children that the drafter proposes for them into the pool of candidates, with
//      survival(child) = survival(parent) * chance(child). The chance is the confidence that the
//      drafter states, or what a calibration makes of it; the calibrated chances of a row's children
//      are scaled down to add up to at most 1, as only one can be right.
//      A drafter with an acceptance head (SpecDec++, 2405.19715) also says, now that it has read the
//      frontier's own tokens, how likely each of them is accepted: that chance takes the place of the
//      one that the node had as a candidate, before its children get theirs.
//   3. Steps 1 and 2 repeat until the frontier is empty, or its children would gain less than the
//      rule's level_price: of each row its survival times the chance that it has itself, since no
//      child is known yet.
//   4. tree() is the best nodes_max candidates, ordered by survival.
//
//   TreeGrowth growth(rule);
//   while (!growth.frontier().empty()) {
//     growth.add(<candidates of each row of the frontier, by a forward pass>);
//   }
//   TokenTree tree = growth.tree();
//
// A child's survival is at most its parent's. So without an acceptance head a node outside the best
// nodes_max has no child among them, and the tree is exactly what forwarding every node would give.
// With one, a node that was forwarded may lose its place, and one that was not keeps the chance of
// a candidate. Survivals alone decide what is kept. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/sampling/rank.h"
#include "common/speculation/calibration.h"
#include "common/speculation/stop_rule.h"
#include "common/speculation/token_tree.h"
#include "common/speculation/tree_rows.h"

namespace slipstream {

// A child that the drafter proposed for a row, whether or not it became a node.
struct ProposedChild {
  int32_t parent = kRoot;  // node of tree(), or kRoot
  int depth = 1;
  TokenId token = 0;
  float confidence = 0;  // as it was stated, in [0, 1]
  float chance = 0;      // that it is the target's choice after the parent
};

class TreeGrowth {
 public:
  // calibration: turns a confidence, at the child's depth, into a chance; null: they are the same.
  // It must outlive this.
  explicit TreeGrowth(const StopRule& rule, const Calibration* calibration = nullptr);

  // A node that was forwarded or is in the frontier, in the order of forwarding. Row 0 is the root.
  // There are at most kTreeNodesMax + 1 rows, so that a 64-bit mask holds a row's ancestors.
  using Row = TreeRow;
  std::span<const Row> frontier() const { return std::span(rows_).subspan(first_); }  // empty: the tree is grown
  std::span<const Row> rows() const { return rows_; }                                 // all, the frontier last

  // The confidence that was stated for the token of a row of the frontier; 1 of the root.
  float stated(size_t row) const;

  // Adds the children of the frontier and computes the next one. candidates: [frontier] for each
  // row its children, the likeliest first (sampling/rank.h). accepted: [frontier] the chance that
  // the row's own token is accepted, given its parent; of the root it counts for nothing, and a row
  // whose chance is no number gets no children. Empty: there is no acceptance head. REQUIRES: one
  // entry per row of the frontier.
  void add(std::span<const std::span<const Ranked>> candidates, std::span<const float> accepted = {});
  void stop();  // ends the growth: the frontier will not be forwarded

  TokenTree tree() const;  // of the candidates so far
  // All children that were proposed for the root and for nodes of tree(). Empty without a
  // calibration: nobody would learn from them.
  std::vector<ProposedChild> proposed() const;

 private:
  struct Candidate {
    TokenId token = 0;
    int32_t parent = -1;  // index in pool_; -1: the root
    int32_t row = -1;     // index in rows_; -1: not forwarded
    int32_t depth = 1;
    float survival = 1.0F;
    float confidence = 1.0F;  // as it was stated
  };
  float frontier_gain() const;
  std::vector<int32_t> best() const;  // the best nodes_max candidates, falling by survival, parents before children
  bool reached(size_t row, std::span<const float> accepted);
  void propose(size_t row, std::span<const Ranked> candidates);

  StopRule rule_;
  const Calibration* calibration_;
  std::vector<ProposedChild> proposed_;  // their parent is an index in rows_
  std::vector<float> chances_;           // of one row's candidates
  std::vector<Candidate> pool_;
  std::vector<Row> rows_;
  std::vector<int32_t> candidate_of_row_;  // [rows] index in pool_; -1: the root
  size_t first_ = 0;                       // first row of the frontier
};

}  // namespace slipstream
