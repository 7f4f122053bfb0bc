// Splits the rows of a step over the draft trees of its sequences, so that every node pays for
// itself. It is one of the three bounds on a draft (docs/design/SCHEDULER.md, "Three bounds on a
// draft").
//
//   1. A node gains as many expected tokens as the probability that it is accepted.
//   2. Sort the nodes of all sequences by their gain, the highest first.
//   3. For each n, take the first n nodes: tokens(n) = roots + the sum of their gains, and
//      seconds(n) = what cost_model.h predicts for the roots and n nodes.
//   4. The n that maximises tokens(n) / seconds(n) wins. Each sequence gets its nodes among them.
//
// That is the walltime improvement of Leviathan et al. (2211.17192, Theorem 3.8) for a whole batch:
// the survivals of the nodes in place of alpha^j, and the measured cost of a step in place of a
// constant cost of a node. Trees become shorter with more sequences and on machines that are more
// compute-bound. Pure.
#pragma once

#include <span>
#include <vector>

#include "common/engine/cost_model.h"

namespace slipstream {

struct DraftCandidate {
  std::vector<float> gains;  // of its nodes, falling
  int32_t visible = 0;       // cache positions that each of its nodes sees
};

// The gains of a chain of which each node is accepted with probability alpha if the one before it
// was: alpha, alpha^2, ... (Leviathan et al., equation 1, term by term).
std::vector<float> chain_gains(double alpha, int nodes);

// Returns [sequences] how many nodes of each pay for themselves. roots: the load of the step
// without draft nodes, of which every row emits a token.
std::vector<int> split_row_budget(std::span<const DraftCandidate> sequences, StepLoad roots, const CostModel& cost);

// What a node costs in tokens, if every root has one: the share of a step that it adds, times the
// tokens that a step without nodes emits. 0: rows are free.
double node_price(StepLoad roots, int32_t visible, const CostModel& cost);

}  // namespace slipstream
