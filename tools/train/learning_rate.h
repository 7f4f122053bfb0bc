// The learning rate of each step: it rises linearly, then falls as half a cosine wave.
#pragma once

#include <cstdint>

namespace slipstream::train {

struct Schedule {
  double peak = 0;
  int64_t warmup_steps = 0;
  int64_t steps = 0;         // of the whole training, if it ends after steps
  double floor_share = 0.1;  // of the peak: the rate of the last step
};

// step: in [0, schedule.steps). Loshchilov and Hutter, "SGDR" (2017), equation 5, without restarts.
double learning_rate(const Schedule& schedule, int64_t step);

// Of a training that ends after a time: it rises over the warm-up steps, stays, and falls in the
// same way over the last kFallingShare of the time. done: the share of the time that has passed.
inline constexpr double kFallingShare = 0.4;
double learning_rate_by_time(const Schedule& schedule, int64_t step, double done);

}  // namespace slipstream::train
