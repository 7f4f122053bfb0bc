// How many nodes each sequence's tree may have in a step that they share: those that pay for
// themselves.
//
// In a chain whose nodes are accepted with probability alpha each, given that the one before was,
// the j-th node gains alpha^j tokens (Leviathan et al., 2211.17192, equation 1, node by node).
// Nodes of all sequences are taken in the order of their gain, and so many as make the tokens a
// second the most: their walltime improvement (3.8), with the measured T in place of 1 + c, for a
// whole batch. The more sequences there are, or the more compute-bound the machine is, the shorter
// the trees. A tree with several children at a node gains less by so many nodes than a chain of its
// alpha would, so this never gives too few. Pure.
#pragma once

#include <span>
#include <vector>

#include "common/engine/cost_model.h"

namespace slipstream {

struct DraftCandidate {
  double alpha = 0;     // acceptance_rate.h
  int nodes_max = 0;    // that it could use
  int32_t visible = 0;  // positions that each of its nodes sees
};

// roots: what the step has without any node. [sequences] nodes each.
std::vector<int> split_row_budget(std::span<const DraftCandidate> sequences, StepLoad roots, const CostModel& cost);

}  // namespace slipstream
