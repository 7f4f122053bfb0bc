#include "tools/train/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace slipstream::train {

double learning_rate(const Schedule& schedule, int64_t step) {
  if (step < schedule.warmup_steps) {
    return schedule.peak * static_cast<double>(step + 1) / static_cast<double>(schedule.warmup_steps);
  }
  const auto falling = static_cast<double>(std::max<int64_t>(1, schedule.steps - 1 - schedule.warmup_steps));
  const double done = std::min(1.0, static_cast<double>(step - schedule.warmup_steps) / falling);
  const double above_floor = (1 + std::cos(std::numbers::pi * done)) / 2;
  return schedule.peak * (schedule.floor_share + (1 - schedule.floor_share) * above_floor);
}

}  // namespace slipstream::train
