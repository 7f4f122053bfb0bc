// The ratio family: which nodes of a sampled tree are accepted, and which token follows them. The
// emitted tokens follow the target's distribution exactly, whatever q is; tests enumerate every
// outcome to show it. The rules trust the q they are given.
//
//   p   target distribution after a row
//   q   draft distribution that the row's children were sampled from
//   r   residual: what rejections leave of p (residual.h)
//   u   uniform random number in (0, 1)
//
//   one child x ~ q    accept x if u < min(1, p(x) / q(x)), else emit a token of r = norm((p - q)+)
//   several children   try them in the order they were sampled; after each rejection p := r
//
//   accept_ratio       does this from the root down. A chain is Algorithm 1 of 2211.17192; several
//                      children are those of SpecInfer (2305.09781) and Sequoia (2402.12374); a
//                      root of M chains is Algorithm 4 of 2411.00841.
//   accept_traversal   goes from the leaves up (2505.12398). On chains that is block verification
//                      (2403.10444), which never accepts fewer tokens in the mean. On trees it can.
//
// What is sampled, trimmed or waited for must not depend on the tokens of the sibling set in
// question or of sets below it. Anything else is allowed. adr/0008 shows the bias that breaking
// this causes.
#pragma once

#include <span>
#include <vector>

#include "common/speculation/rejection/draft_tree.h"
#include "common/speculation/rejection/residual.h"
#include "common/speculation/walk.h"

namespace slipstream {

// The target's distributions after the rows of a tree (common/speculation/tree_rows.h counts rows).
// Each is computed when it is asked for.
class TargetDistributions {
 public:
  virtual ~TargetDistributions() = default;
  // p after this row, [vocabulary]; empty if the row's logits are not finite. The view stays valid
  // until the round ends.
  virtual TokenDistribution after(int row) = 0;
  // The same, where the weights of these tokens (ascending) alone are asked for: others need not be
  // listed.
  virtual TokenDistribution weights_of(int row, std::span<const TokenId> /*tokens*/) { return after(row); }
};

// Buffers that are reused from round to round. REQUIRES: one per thread.
struct AcceptScratch {
  std::vector<Residual> residuals;  // [depth]
};

// tree     [nodes] with q [nodes + 1]. REQUIRES: tree.sampled().
// target   p [nodes + 1]
// returns  the accepted path and the token after it. A row without finite logits ends the round
//          with token -1, as in walk().
Walk accept_ratio(const DraftTree& tree, TargetDistributions& target, RandomSource& random, AcceptScratch& scratch);
Walk accept_traversal(const DraftTree& tree, TargetDistributions& target, RandomSource& random, AcceptScratch& scratch);

}  // namespace slipstream
