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

// The columns of an ActivationGroup.
struct GroupLanes {
  Lanes half[2];
};
static_assert(kGroupColumns == 2 * kLanes);

SLIPSTREAM_INLINE GroupLanes load_group(const float* row, int32_t cols, int32_t group) {
  GroupLanes values;
  for (int32_t i = 0; i < 2; ++i) {
    const int32_t at = group * kGroupColumns + i * kLanes, left = cols - at;
    values.half[i] = left <= 0 ? Lanes{} : load_part(row + at, left < kLanes ? left : kLanes);
  }
  return values;
}

// The largest magnitude, or NaN if a column is NaN: as integers, the bits of NaN are above those of
// all numbers.
SLIPSTREAM_INLINE float largest(const GroupLanes& in) {
  LanesInt bits[2];
  std::memcpy(bits, in.half, sizeof(bits));
  for (LanesInt& each : bits) each &= 0x7FFFFFFF;
  const int32_t most = highest(bits[0] < bits[1] ? bits[1] : bits[0]);
  float magnitude;
  std::memcpy(&magnitude, &most, sizeof(most));
  return magnitude;
}

// Moves the columns of a group that are larger than `limit` to the end of a row's outliers.
SLIPSTREAM_INLINE void take_outliers(GroupLanes& in, float limit, int32_t first_column, Outlier*& end) {
  float values[kGroupColumns];
  for (int32_t i = 0; i < 2; ++i) store(values + i * kLanes, in.half[i]);
  for (int32_t i = 0; i < kGroupColumns; ++i) {
    if (!(__builtin_fabsf(values[i]) > limit)) continue;
    *end++ = {.column = first_column + i, .value = values[i]};
    values[i] = 0.0F;
  }
  for (int32_t i = 0; i < 2; ++i) in.half[i] = load(values + i * kLanes);
}

// Rounds a group by its largest magnitude.
SLIPSTREAM_INLINE void round_group(const GroupLanes& in, float most, ActivationGroup& out) {
  constexpr float kRound = 12582912.0F;       // 1.5 * 2^23: adding it rounds to an integer, to even when halfway
  constexpr int32_t kRoundBits = 0x4B400000;  // the bits of kRound; the integer is the difference to them
  typedef int8_t Bytes __attribute__((vector_size(kLanes)));
  const float per_step = most > 1e-30F ? 127.0F / most : 0.0F;
  LanesInt sums = {};
  for (int32_t i = 0; i < 2; ++i) {
    const Lanes shifted = in.half[i] * per_step + kRound;
    LanesInt bits;
    std::memcpy(&bits, &shifted, sizeof(bits));
    bits -= kRoundBits;
    sums += bits;
    const Bytes bytes = __builtin_convertvector(bits, Bytes);
    std::memcpy(out.values + i * kLanes, &bytes, sizeof(bytes));
  }
  const int32_t total = sum(sums);  // any number if a column is not finite, as the scale then is not
  out.scale = most / 127.0F;
  out.total = out.scale * static_cast<float>(total);
  out.bias[0] = static_cast<int32_t>(0U - 8U * static_cast<uint32_t>(total));
  out.bias[1] = static_cast<int32_t>(0U - 128U * static_cast<uint32_t>(total));
}

// The magnitude above which a column is an outlier, by the sum of a row's squares. A row that is
// not finite has no outliers. Nor has one so small that its squares may underflow: the limit would
// be too low, and more columns than outliers_max above it.
SLIPSTREAM_INLINE float outlier_limit(float squares, int32_t cols) {
  constexpr float kLeast = 1e-30F;
  if (!(squares > kLeast)) return __builtin_inff();
  return kOutlierFrom * __builtin_sqrtf(squares / static_cast<float>(cols));
}

// Every path gives the same bits: each operation is rounded once everywhere.
[[maybe_unused]] void to_int8(const float* in, int32_t cols, ActivationGroup* out) {
  const int32_t groups = groups_of(cols);
  Lanes squares = {};
  for (int32_t group = 0; group < groups; ++group) {
    const GroupLanes values = load_group(in, cols, group);
    squares += values.half[0] * values.half[0] + values.half[1] * values.half[1];
  }
  const float limit = outlier_limit(sum(squares), cols);
  auto* end = reinterpret_cast<Outlier*>(out + groups);
  for (int32_t group = 0; group < groups; ++group) {
    GroupLanes values = load_group(in, cols, group);
    float most = largest(values);
    if (most > limit) {
      take_outliers(values, limit, group * kGroupColumns, end);
      most = largest(values);
    }
    round_group(values, most, out[group]);
  }
  end->column = kNoColumn;
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
