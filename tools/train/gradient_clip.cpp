#include "tools/train/gradient_clip.h"

#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>

namespace slipstream::train {

Clipping clip_gradients(const Weights& weights, double norm_max) {
  const at::NoGradGuard no_gradients;
  std::vector<at::Tensor> norms;
  for (const Parameter& parameter : weights.all()) norms.push_back(parameter.value.grad().norm());
  Clipping clipping{.norm = at::stack(norms).to(at::kDouble).square().sum().sqrt(), .divisor = {}};
  clipping.divisor = (clipping.norm / norm_max).clamp_min(1).to(at::kFloat);
  return clipping;
}

at::Tensor broken(const at::Tensor& loss, const at::Tensor& norm) {
  const at::Tensor both = loss + norm;
  return (both - both).ne(0).to(at::kFloat);  // infinity less itself is no number, and no number equals 0
}

}  // namespace slipstream::train
