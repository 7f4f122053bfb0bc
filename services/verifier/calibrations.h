// What the survivals of one drafter's trees are worth, for greedy and for coupled requests apart:
// the same guess is less likely right where the target samples.
#pragma once

#include "common/messages/common.h"
#include "common/speculation/calibration.h"

namespace slipstream {

class Calibrations {
 public:
  Calibration& of(Rule rule) { return rule == Rule::greedy ? greedy_ : coupled_; }
  const Calibration& of(Rule rule) const { return rule == Rule::greedy ? greedy_ : coupled_; }

 private:
  Calibration greedy_, coupled_;
};

}  // namespace slipstream
