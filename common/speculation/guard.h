// Promise 2, "never slower for long": drafts that keep failing fall to zero nodes and are probed for again at exponentially
// growing gaps, at most one step in kProbeGapSteps in the end. A draft that helps is followed by the next one at once, but only
// halves the gap: a drafter that is right now and then stays rare, one that turned good is back in a few steps. A tree that
// came in time and empty says neither. Pure; counts steps, not time.
//
// One guards each sequence (the text may not suit the drafter), one each drafter over the steps of all its sequences (nothing
// may suit it): a draft is asked for where both want one.
#pragma once

namespace slipstream {

// Trees in a row that were late or had no node accepted.
inline constexpr int kSequenceFailuresMax = 2;
inline constexpr int kDrafterFailuresMax = 8;
inline constexpr int kFirstGapSteps = 4;
inline constexpr int kProbeGapSteps = 64;  // the gap never grows past this

class DraftGuard {
 public:
  explicit DraftGuard(int failures_max) : failures_max_(failures_max) {}
  bool wants_draft() const { return plain_steps_left_ == 0; }  // for the step about to be gathered
  void plain_step();                                           // a step ran with no draft asked for
  // A step ran for which a draft was asked. A tree that came late or not at all counts as verified = 0, late = true.
  void drafted_step(int verified_nodes, int accepted_nodes, bool late);

 private:
  int failures_max_;
  int failures_ = 0;  // in a row
  int gap_ = 0;       // steps between probes now; 0: not backing off
  int plain_steps_left_ = 0;
};

}  // namespace slipstream
