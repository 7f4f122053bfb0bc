#include "tools/train/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace slipstream::train {

namespace {

double warm(const Schedule& schedule, int64_t step) {
  return schedule.peak * static_cast<double>(step + 1) / static_cast<double>(schedule.warmup_steps);
}

// fallen: the share of the fall that is done.
double falling(const Schedule& schedule, double fallen) {
  const double above_floor = (1 + std::cos(std::numbers::pi * std::clamp(fallen, 0.0, 1.0))) / 2;
  return schedule.peak * (schedule.floor_share + (1 - schedule.floor_share) * above_floor);
}

}  // namespace

double learning_rate(const Schedule& schedule, int64_t step) {
  if (step < schedule.warmup_steps) return warm(schedule, step);
  const auto steps = static_cast<double>(std::max<int64_t>(1, schedule.steps - 1 - schedule.warmup_steps));
  return falling(schedule, static_cast<double>(step - schedule.warmup_steps) / steps);
}

double learning_rate_by_time(const Schedule& schedule, int64_t step, double done) {
  const double fallen = falling(schedule, (done - (1 - kFallingShare)) / kFallingShare);
  return step < schedule.warmup_steps ? std::min(warm(schedule, step), fallen) : fallen;
}

}  // namespace slipstream::train
