// Splits the rows of a step over the draft trees of its sequences, so that every node pays for
// itself. It is one of the three bounds on a draft (docs/design/SCHEDULER.md, "Three bounds on a
// draft").
//
//   1. The j-th node of a chain gains alpha^j expected tokens (Leviathan et al., 2211.17192,
//      equation 1, term by term). alpha: the sequence's acceptance rate.
//   2. Sort the nodes of all sequences by their gain, the highest first.
//   3. For each n, take the first n nodes: tokens(n) = sequences + the sum of their gains, and
//      seconds(n) = what cost_model.h predicts for the roots and n nodes.
//   4. The n that maximises tokens(n) / seconds(n) wins. Each sequence gets its nodes among them.
//
// That is the walltime improvement of Leviathan et al. (Theorem 3.8) for a whole batch, with the
// measured cost of a step in place of their constant cost of a node. Trees become shorter with more
// sequences and on machines that are more compute-bound.
//
// A tree with siblings gains less by n nodes than a chain does, so the budget may be too large, but
// is never too small. Pure.
#pragma once

#include <span>
#include <vector>

#include "common/engine/cost_model.h"

namespace slipstream {

struct DraftCandidate {
  double alpha = 0;     // speculation/acceptance_rate.h
  int nodes_max = 0;    // nodes that it would use if rows were free
  int32_t visible = 0;  // cache positions that each of its nodes sees
};

// Returns [sequences] the nodes that each may draft. roots: the load of the step without draft
// nodes.
std::vector<int> split_row_budget(std::span<const DraftCandidate> sequences, StepLoad roots, const CostModel& cost);

}  // namespace slipstream
