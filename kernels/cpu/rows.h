// Kernels over one row: RMS norm, rotation, gates, soft cap. Private to the kernels' .cpp files
// (lanes.h).
#pragma once

#include "kernels/cpu/lanes.h"

namespace slipstream {
namespace {

// The squares are summed lane by lane, then over the lanes in a fixed order: the same for every
// row.
[[maybe_unused]] void add_rms_norm(const NormArgs& args) {
  Lanes squares = {};
  for (int32_t at = 0; at < args.cols; at += kLanes) {
    for (int32_t i = 0; i < kLaneVectors; ++i) {
      const int32_t col = at + i * kVectorLanes, left = args.cols - col;
      if (left <= 0) break;
      Vector value = load_vector_part(args.residual + col, left);
      if (args.delta != nullptr) {
        value += load_vector_part(args.delta + col, left);
        store_vector_part(args.residual + col, value, left);
      }
      squares.part[i] = multiply_add(value, value, squares.part[i]);
    }
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
  for (int32_t at = 0; at < half; at += kVectorLanes) {
    const int32_t left = half - at;
    const Vector gate = load_vector_part(gate_up + at, left), up = load_vector_part(gate_up + half + at, left);
    store_vector_part(out + at, gate / (1.0F + exp_of(-gate)) * up, left);
  }
}

// x / 2 * (1 + tanh u) is x / (1 + e^(-2 u)).
[[maybe_unused]] void gelu_gate(const float* gate_up, int32_t half, float* out) {
  constexpr float kTwice = -1.59576912F, kCube = 0.044715F;  // -2 sqrt(2 / pi)
  for (int32_t at = 0; at < half; at += kVectorLanes) {
    const int32_t left = half - at;
    const Vector gate = load_vector_part(gate_up + at, left), up = load_vector_part(gate_up + half + at, left);
    const Vector below = gate * kTwice * multiply_add(gate * gate, every(kCube), every(1.0F));
    store_vector_part(out + at, gate / (1.0F + exp_of(below)) * up, left);
  }
}

[[maybe_unused]] void soft_cap(float* numbers, int32_t count, float cap) {
  for (int32_t at = 0; at < count; at += kVectorLanes) {
    store_vector_part(numbers + at, soft_capped(load_vector_part(numbers + at, count - at), cap), count - at);
  }
}

[[maybe_unused]] void add_silu(const float* in, int32_t cols, float* residual) {
  for (int32_t at = 0; at < cols; at += kVectorLanes) {
    const int32_t left = cols - at;
    const Vector x = load_vector_part(in + at, left);
    store_vector_part(residual + at, load_vector_part(residual + at, left) + x / (1.0F + exp_of(-x)), left);
  }
}

}  // namespace
}  // namespace slipstream
