// Bounds a step: gradients are scaled down together if their norm is too large.
#pragma once

#include "tools/train/weights.h"

namespace slipstream::train {

// Returns the norm of all gradients together (the root of the sum of all squares), as it was. If it
// is over norm_max, they are scaled so that it is norm_max. If it is no finite number, they stay.
// REQUIRES: each tensor has a gradient.
double clip_gradients(const Weights& weights, double norm_max);

}  // namespace slipstream::train
