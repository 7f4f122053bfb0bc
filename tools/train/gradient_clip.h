// The norm of a step's gradients, and what brings it down to a bound. All of it stays on the device
// that has the gradients: nothing waits for it.
#pragma once

#include <ATen/core/Tensor.h>

#include "tools/train/weights.h"

namespace slipstream::train {

struct Clipping {
  at::Tensor norm;     // scalar, f64: of all gradients together
  at::Tensor divisor;  // scalar, f32: what AdamW divides gradients by, 1 or more
};

// REQUIRES: each tensor has a gradient.
Clipping clip_gradients(const Weights& weights, double norm_max);

// 1 if one of these scalars is not finite, else 0: a scalar, f32, for AdamW.
at::Tensor broken(const at::Tensor& loss, const at::Tensor& norm);

}  // namespace slipstream::train
