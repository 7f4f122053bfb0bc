#include "common/speculation/guard.h"

#include <algorithm>

#include "common/base/limits.h"

namespace slipstream {

void DraftGuard::plain_step() {
  if (plain_steps_left_ > 0) --plain_steps_left_;
}

void DraftGuard::drafted_step(int verified_nodes, int accepted_nodes, bool late) {
  if (accepted_nodes > 0) {
    if (accepted_nodes * kGrowthShare >= verified_nodes) nodes_ = std::min(2 * nodes_, kTreeNodesMax);
    failures_ = 0;
    gap_ = gap_ > kFirstGapSteps ? gap_ / 2 : 0;
    return;
  }
  if (verified_nodes > 0) nodes_ = std::max(nodes_ / 2, kFirstNodes);
  const bool failed = late || verified_nodes > 0;
  if (failed && ++failures_ >= kFailuresBeforeBackoff) {
    gap_ = gap_ == 0 ? kFirstGapSteps : std::min(2 * gap_, kProbeGapSteps);
  }
  plain_steps_left_ = gap_;
}

}  // namespace slipstream
