// Promise 2, "never slower for long", for one sequence. What it bets on a draft grows with what
// drafts have won: trees begin at kFirstNodes, which cost a step next to nothing, double while
// enough of them is accepted, and halve when nothing is. Drafts that keep failing fall to zero
// nodes and are probed for again at exponentially growing gaps, at most one step in kProbeGapSteps
// in the end. A draft that helps is followed by the next one at once, but only halves the gap: a
// drafter that is right now and then stays rare, one that turned good is back in a few steps. A
// tree that came in time and empty is no failure, but a long row of them is asked for less and less
// often, too: gently, at most one step in kEmptyGapSteps in the end. Nor is more bet than a busy
// machine can afford (row_budget.h). Pure; counts steps, not time (that is wait_budget.h).
#pragma once

#include <algorithm>

#include "common/base/limits.h"

namespace slipstream {

inline constexpr int kFirstNodes = 3;
inline constexpr int kFailuresBeforeBackoff = 2;  // trees in a row that were late or had no node accepted
inline constexpr int kFirstGapSteps = 4;
inline constexpr int kProbeGapSteps = 64;         // the gap never grows past this
inline constexpr int kEmptiesBeforeBackoff = 16;  // empty trees in a row, each time before the gap grows
inline constexpr int kEmptyGapSteps = 16;
inline constexpr int kGrowthShare = 4;  // a tree of which one node in so many is accepted may double

class DraftBackoff {
 public:
  bool wants_draft() const {  // for the step about to be gathered
    return plain_steps_left_ == 0 && (affordable_ > 0 || unaffordable_steps_ >= kProbeGapSteps);
  }
  int nodes_max() const { return std::clamp(affordable_, 1, nodes_); }  // of its tree
  int nodes_cap() const { return nodes_; }  // of a tree that cost nothing; at most twice it the next time
  // So many nodes pay for themselves. None: one is probed with each kProbeGapSteps steps, as
  // drafters grow better.
  void set_row_budget(int nodes) { affordable_ = nodes; }
  void plain_step();  // a step ran with no draft asked for
  // A step ran for which a draft was asked. A tree that came late or not at all counts as verified
  // = 0, late = true.
  void drafted_step(int verified_nodes, int accepted_nodes, bool late);

 private:
  int nodes_ = kFirstNodes;
  int failures_ = 0;   // in a row
  int gap_ = 0;        // steps between probes now; 0: not backing off
  int empties_ = 0;    // in a row
  int empty_gap_ = 0;  // steps between asks for trees that are always empty
  int plain_steps_left_ = 0;
  int affordable_ = kTreeNodesMax;
  int unaffordable_steps_ = 0;  // since the last draft
};

}  // namespace slipstream
