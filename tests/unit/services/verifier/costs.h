// Machines to test on.
#pragma once

#include "common/engine/cost_model.h"

namespace slipstream {

inline CostModel cost_of(double step, double row) {
  StepTimes times;
  for (size_t i = 0; i < times.size(); ++i) times[i] = step + row * kCostRows[i];
  return {times, {}};
}

// Every step takes as long, whatever it has: rows are free.
inline CostModel even_cost(double seconds) { return cost_of(seconds, 0); }

// Each row takes as long: nothing is shared between them.
inline CostModel cost_by_row(double seconds) { return cost_of(0, seconds); }

}  // namespace slipstream
