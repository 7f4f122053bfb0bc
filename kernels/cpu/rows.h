// Kernels over one row: RMS norm, int8 rounding, rotation, gate. Private to the kernels' .cpp files
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

// Rounds each group of 32 columns to int8, by the largest magnitude of the group. Every path gives
// the same bits: each operation is rounded once everywhere.
[[maybe_unused]] void to_int8(const float* in, int32_t cols, ActivationGroup* out) {
  constexpr float kRound = 12582912.0F;       // 1.5 * 2^23: adding it rounds to an integer, to even when halfway
  constexpr int32_t kRoundBits = 0x4B400000;  // the bits of kRound; the integer is the difference to them
  typedef int8_t Bytes __attribute__((vector_size(kLanes)));
  for (int32_t at = 0; at < cols; at += kGroupColumns, ++out) {
    Lanes value[2], finite = {};
    LanesInt magnitude[2];
    for (int half = 0; half < 2; ++half) {
      const int32_t left = cols - at - half * kLanes;
      value[half] = left <= 0 ? Lanes{} : load_part(in + at + half * kLanes, left < kLanes ? left : kLanes);
      finite += value[half] - value[half];  // 0, or NaN
      std::memcpy(&magnitude[half], &value[half], sizeof(Lanes));
      magnitude[half] &= 0x7FFFFFFF;
    }
    Lanes sizes[2];
    std::memcpy(sizes, magnitude, sizeof(sizes));
    const float most = highest(greater(sizes[0], sizes[1]));
    const float per_step = most > 1e-30F ? 127.0F / most : 0.0F;
    LanesInt sums = {};
    for (int half = 0; half < 2; ++half) {
      const Lanes shifted = value[half] * per_step + kRound;
      LanesInt bits;
      std::memcpy(&bits, &shifted, sizeof(bits));
      bits -= kRoundBits;
      sums += bits;
      const Bytes bytes = __builtin_convertvector(bits, Bytes);
      std::memcpy(out->values + half * kLanes, &bytes, sizeof(bytes));
    }
    const int32_t total = sum(sums);  // any number if a column is NaN; scale is NaN then
    out->scale = most / 127.0F + sum(finite);
    out->total = out->scale * static_cast<float>(total);
    out->bias[0] = static_cast<int32_t>(0U - 8U * static_cast<uint32_t>(total));
    out->bias[1] = static_cast<int32_t>(0U - 128U * static_cast<uint32_t>(total));
  }
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
