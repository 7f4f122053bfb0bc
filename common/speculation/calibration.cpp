#include "common/speculation/calibration.h"

#include <algorithm>

namespace slipstream {

size_t calibration_range(int depth) {
  const auto at = std::ranges::lower_bound(kCalibrationDepths, depth);
  return static_cast<size_t>(at - kCalibrationDepths.begin());
}

std::string calibration_range_name(size_t range) {
  return range + 1 == kCalibrationDepths.size() ? "deeper" : std::to_string(kCalibrationDepths.at(range));
}

float Calibration::chance(float survival, int depth) const { return ranges_[calibration_range(depth)].curve.chance(survival); }

float Calibration::survival_of(float chance) const { return ranges_.front().curve.survival_of(chance); }

void Calibration::verified(float survival, int depth, bool accepted) {
  Range& range = ranges_[calibration_range(depth)];
  SurvivalCurve::Cell& cell = range.cells[survival_bin(survival)];
  cell.tried = kCalibrationMemory * cell.tried + 1;
  cell.accepted = kCalibrationMemory * cell.accepted + (accepted ? 1 : 0);
  range.curve.fit(range.cells);
  if (--until_fade_ == 0) fade();
}

void Calibration::fade() {
  until_fade_ = kFadeEvery;
  for (Range& range : ranges_) {
    for (SurvivalCurve::Cell& cell : range.cells) {
      cell.tried *= kFadeTo;
      cell.accepted *= kFadeTo;
    }
    range.curve.fit(range.cells);
  }
}

}  // namespace slipstream
