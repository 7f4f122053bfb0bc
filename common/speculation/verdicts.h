// Verdicts on a draft tree: what the target chose after each of its rows. A child is right if it is
// the target's choice after its parent, whether or not the parent was accepted. So a tree of which
// nothing was accepted tells as much about its drafter as any other, and the emitted tokens, which
// tell the choices on the accepted path alone, do not.
//
//   sent         root     verdicts  A   the choice after the root: A is accepted
//                +- A               D   after A: C would have been wrong
//                |  +- C            -1  after C, which was cut before the pass (kNoVerdict)
//                +- B               E   after B, which was rejected: E is right there
//                   +- E            F
//
// Only for greedy and coupled acceptance: the rules that compare probabilities have no one choice.
// Pure.
#pragma once

#include <span>
#include <vector>

#include "common/speculation/calibration.h"
#include "common/speculation/reliability.h"
#include "common/speculation/token_tree.h"
#include "common/speculation/tree_growth.h"

namespace slipstream {

// [sent + 1] the verdicts on a tree in its drafter's own order. verified: the tree that a step
// verified, in which `sent` was merged, perhaps cut; choices: [verified + 1] the target's choice
// after each row of it.
std::vector<TokenId> verdicts_on(const TokenTree& sent, const TokenTree& verified, std::span<const TokenId> choices);

// Teaches a drafter's calibration which of the children that it proposed were right, and counts
// them by depth. verdicts: [nodes + 1] on the tree that `proposed` belongs to. A child whose parent
// has no verdict says nothing.
void learn(std::span<const ProposedChild> proposed, std::span<const TokenId> verdicts, Calibration& calibration,
           DepthReliability& by_depth);

}  // namespace slipstream
