// Turns the survival that a drafter states for a node into the probability that the node is
// accepted, by what became of earlier nodes of the same drafter.
//
// There is a curve (survival_curve.h) for each range of depths, and one for all depths. A cell
// (range, bin of survival) counts the nodes that were verified, and the accepted ones among them;
// each new node of a cell makes the older ones weigh m = kCalibrationMemory times as much:
//
//   tried    := m tried + 1
//   accepted := m accepted + [accepted]
//
// After every kFadeEvery verified nodes all counts shrink to kFadeTo of what they were: a cell that
// is thought to be poor is not verified any more, so nothing else would ever tell that it has
// become better, or that its few nodes were unlucky.
//
// Before its own nodes a range thinks what all depths have seen, and all depths that the drafter is
// right. Otherwise a range with few nodes in a bin, which fade as fast as they come, would go on
// believing a drafter that all others have found to say too little or too much.
//
// A node that was cut was not verified, and counts nowhere. A node below a rejected one was not
// accepted: survival is the chance of the whole path.
//
// Drafters use the same class for their confidence in one candidate, given its parent (verdicts.h).
// There "survival" is that confidence, and "accepted" is that the target chose the candidate.
//
// Pure; 1.4 KB. reliability.h says how good it is.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "common/speculation/survival_curve.h"

namespace slipstream {

inline constexpr std::array<int, 6> kCalibrationDepths{1, 2, 3, 4, 8, 1 << 30};  // the deepest of each range
inline constexpr double kCalibrationMemory = 1 - 1.0 / 512;
inline constexpr int kFadeEvery = 64;  // verified nodes
inline constexpr double kFadeTo = 0.95;

size_t calibration_range(int depth);               // its place in kCalibrationDepths
std::string calibration_range_name(size_t range);  // its deepest, or "deeper": a label of metrics

class Calibration {
 public:
  // The probability that a node of this survival and depth is accepted. It rises with the survival.
  // REQUIRES: 0 <= survival <= 1 and depth >= 1.
  float chance(float survival, int depth) const;
  // The smallest survival whose chance at depth 1 is at least this; over 1: there is none.
  float survival_of(float chance) const;
  // A node was verified.
  void verified(float survival, int depth, bool accepted);

 private:
  struct Range {
    SurvivalCurve::Cells cells{};
    SurvivalCurve curve;
  };

  void fade();

  Range all_;  // depths
  std::array<Range, kCalibrationDepths.size()> ranges_;
  int until_fade_ = kFadeEvery;
};

}  // namespace slipstream
