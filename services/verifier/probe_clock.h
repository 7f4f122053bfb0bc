// When a source of drafts whose nodes are not verified, since none seems worth its row, has one
// verified whatever it seems worth: it may have become better. There is one clock for each source
// and kind of rule. It counts the steps of all sequences that the source drafts for, so short
// answers probe, too, and one sequence probes at a time.
//
//   clock.stepped();                    after each step of each of these sequences
//   if (clock.due()) clock.begins();    the next tree probes
//   clock.verified();                   a node of it was verified, or
//   clock.failed();                     none was: it came late or without nodes, so the next tree probes
//
// Pure.
#pragma once

#include "common/speculation/draft_backoff.h"

namespace slipstream {

class ProbeClock {
 public:
  void stepped() { ++steps_; }
  bool due() const { return steps_ >= kProbeGapSteps; }
  void begins() { steps_ = 0; }
  void verified() { steps_ = 0; }
  void failed() { steps_ = kProbeGapSteps; }

 private:
  int steps_ = 0;  // since a node was verified, or a probe began
};

}  // namespace slipstream
