#include "common/speculation/guard.h"

#include <algorithm>

namespace slipstream {

void DraftGuard::plain_step() {
  if (plain_steps_left_ > 0) --plain_steps_left_;
}

void DraftGuard::drafted_step(int verified_nodes, int accepted_nodes, bool late) {
  if (accepted_nodes > 0) {
    failures_ = 0;
    gap_ = gap_ > kFirstGapSteps ? gap_ / 2 : 0;
    return;
  }
  const bool failed = late || verified_nodes > 0;
  if (failed && ++failures_ >= failures_max_) {
    gap_ = gap_ == 0 ? kFirstGapSteps : std::min(2 * gap_, kProbeGapSteps);
  }
  plain_steps_left_ = gap_;
}

}  // namespace slipstream
