#include "tools/train/gradient_clip.h"

#include <cmath>

#include <ATen/core/grad_mode.h>

namespace slipstream::train {

double clip_gradients(const Weights& weights, double norm_max) {
  const at::NoGradGuard no_gradients;
  double squares = 0;
  for (const Parameter& parameter : weights.all()) {
    const auto norm = parameter.value.grad().norm().item<double>();
    squares += norm * norm;
  }
  const double norm = std::sqrt(squares);
  if (std::isfinite(norm) && norm > norm_max) {
    for (const Parameter& parameter : weights.all()) parameter.value.grad().mul_(norm_max / norm);
  }
  return norm;
}

}  // namespace slipstream::train
