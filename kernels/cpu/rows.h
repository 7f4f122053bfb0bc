// Kernels over one row: norm, rotation, gate. Private to the kernels' .cpp files (lanes.h).
#pragma once

#include "kernels/cpu/lanes.h"

namespace slipstream {
namespace {

[[maybe_unused]] void add_rms_norm(const NormArgs& args) {
  Lanes squares = {};
  for (int32_t at = 0; at < args.cols; at += kLanes) {
    const int32_t count = args.cols - at < kLanes ? args.cols - at : kLanes;
    Lanes value = load_part(args.residual + at, count);
    if (args.delta != nullptr) {
      value += load_part(args.delta + at, count);
      store_part(args.residual + at, value, count);
    }
    squares = multiply_add(value, value, squares);
  }
  const float scale = 1.0F / __builtin_sqrtf(sum(squares) / static_cast<float>(args.cols) + args.eps);
  for (int32_t at = 0; at < args.cols; ++at) args.out[at] = args.residual[at] * scale * args.gain[at];
}

[[maybe_unused]] void rope(float* head, const float* cosine, const float* sine, int32_t half) {
  for (int32_t i = 0; i < half; ++i) {
    const float low = head[i], high = head[i + half];
    head[i] = low * cosine[i] - high * sine[i];
    head[i + half] = high * cosine[i] + low * sine[i];
  }
}

[[maybe_unused]] void silu_gate(const float* gate_up, int32_t half, float* out) {
  for (int32_t at = 0; at < half; at += kLanes) {
    const int32_t count = half - at < kLanes ? half - at : kLanes;
    const Lanes gate = load_part(gate_up + at, count), up = load_part(gate_up + half + at, count);
    store_part(out + at, gate / (1.0F + exp_of(-gate)) * up, count);
  }
}

}  // namespace
}  // namespace slipstream
