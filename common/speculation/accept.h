// The ratio family: which nodes of a drawn tree are accepted, and the token after them, so that what is emitted follows the
// target's law, whatever q is (enumerated in tests). They need the laws the children were drawn from, and believe them.
//
//   ratio      from the root down: a chain is Algorithm 1 of 2211.17192; several children are SpecInfer's and Sequoia's; a root
//              of M chains is Algorithm 4 of 2411.00841
//   traversal  from the leaves up (2505.12398); on chains that is block verification (2403.10444), which never accepts less
//              in the mean. On trees it can
//
// What is drawn, trimmed or waited for may depend on anything but the tokens of the sibling set at stake and those below it
// (DESIGN 5): else the law bends.
#pragma once

#include <span>
#include <vector>

#include "common/sampling/residual.h"
#include "common/speculation/draft_tree.h"
#include "common/speculation/walk.h"

namespace slipstream {

// The target's laws after the rows of a tree, made when asked for.
class TargetLaws {
 public:
  virtual ~TargetLaws() = default;
  // Empty: the row's logits are not finite. The view holds until the round ends.
  virtual Law after(int row) = 0;
};

// Buffers of a round, reused. One a thread.
struct AcceptScratch {
  std::vector<Residual> residuals;  // by depth
};

// In both, a row without finite logits that would be emitted from ends the round with token -1, as in walk().
Walk accept_ratio(const DraftTree& drawn, TargetLaws& target, Dice& dice, AcceptScratch& scratch);
Walk accept_traversal(const DraftTree& drawn, TargetLaws& target, Dice& dice, AcceptScratch& scratch);

}  // namespace slipstream
