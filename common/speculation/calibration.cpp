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
  for (Range* each : {&all_, &range}) {
    SurvivalCurve::Cell& cell = each->cells[survival_bin(survival)];
    cell.tried = kCalibrationMemory * cell.tried + 1;
    cell.accepted = kCalibrationMemory * cell.accepted + (accepted ? 1 : 0);
  }
  all_.curve.fit(all_.cells);
  range.curve.fit(range.cells, all_.curve);
  if (--until_fade_ == 0) fade();
}

void Calibration::fade() {
  until_fade_ = kFadeEvery;
  const auto faded = [](Range& range) -> Range& {
    for (SurvivalCurve::Cell& cell : range.cells) {
      cell.tried *= kFadeTo;
      cell.accepted *= kFadeTo;
    }
    return range;
  };
  all_.curve.fit(faded(all_).cells);
  for (Range& range : ranges_) range.curve.fit(faded(range).cells, all_.curve);
}

}  // namespace slipstream
