#include "common/speculation/draft_backoff.h"

namespace slipstream {

void DraftBackoff::plain_step() {
  if (plain_steps_left_ > 0) --plain_steps_left_;
}

// The cases are those of the header's table. An empty tree changes neither nodes_ nor failures_: it
// says nothing about the drafter's tokens.
bool DraftBackoff::drafted_step(int verified_nodes, int accepted_nodes, bool late, double price) {
  balance_ = std::min(balance_ + accepted_nodes - price * verified_nodes, kBalanceMost);
  const bool overdrawn = balance_ < 0;
  if (overdrawn) balance_ = 0;
  fruitless_ = accepted_nodes > 0 ? 0 : fruitless_ + (verified_nodes > 0 ? 1 : 0);
  const bool useless = verified_nodes > 0 && fruitless_ >= kFruitlessMost;
  const bool empty = verified_nodes == 0 && !late;
  empties_ = empty ? empties_ + 1 : 0;
  if (accepted_nodes > 0) empty_gap_ = 0;
  if (accepted_nodes * kGrowthShare >= verified_nodes && accepted_nodes > 0) nodes_ = std::min(2 * nodes_, kTreeNodesMax);
  if (verified_nodes > 0 && accepted_nodes == 0) nodes_ = std::max(nodes_ / 2, first_nodes_);
  const bool failed = late || overdrawn || useless;
  if (failed) {
    if (++failures_ >= kFailuresBeforeBackoff) gap_ = gap_ == 0 ? kFirstGapSteps : std::min(2 * gap_, kProbeGapSteps);
  } else if (accepted_nodes > 0) {
    failures_ = 0;
    gap_ = gap_ > kFirstGapSteps ? gap_ / 2 : 0;
    return false;  // plain_steps_left_ is 0, as the sequence asked: it asks again for the next step
  }
  if (empties_ == kEmptiesBeforeBackoff) {
    empties_ = 0;
    empty_gap_ = std::clamp(2 * empty_gap_, 1, kEmptyGapSteps);
  }
  plain_steps_left_ = std::max(gap_, empty_gap_);
  return failed;
}

}  // namespace slipstream
