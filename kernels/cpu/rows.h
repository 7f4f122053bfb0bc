// Kernels over one row: RMS norm, int8 rounding, rotation, gates, soft cap. Private to the kernels'
// .cpp files (lanes.h).
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

// The columns of an ActivationGroup.
constexpr int32_t kGroupVectors = kGroupColumns / kVectorLanes;
struct GroupVectors {
  Vector part[kGroupVectors];
};
static_assert(kGroupColumns == 2 * kLanes);

SLIPSTREAM_INLINE GroupVectors load_group(const float* row, int32_t cols, int32_t group) {
  GroupVectors values;
  for (int32_t i = 0; i < kGroupVectors; ++i) {
    const int32_t at = group * kGroupColumns + i * kVectorLanes;
    values.part[i] = load_vector_part(row + at, cols - at);
  }
  return values;
}

// The largest magnitude, or NaN if a column is NaN: as integers, the bits of NaN are above those of
// all numbers.
SLIPSTREAM_INLINE float largest(const GroupVectors& in) {
  LanesInt most = {};
  for (int32_t i = 0; i < kGroupVectors; ++i) {
    VectorInt bits;
    std::memcpy(&bits, &in.part[i], sizeof(bits));
    bits &= 0x7FFFFFFF;
    VectorInt& lanes = most.part[i % kLaneVectors];
    lanes = lanes < bits ? bits : lanes;
  }
  const int32_t bits = highest(most);
  float magnitude;
  std::memcpy(&magnitude, &bits, sizeof(bits));
  return magnitude;
}

// Moves the columns of a group that are larger than `limit` to the end of a row's outliers.
SLIPSTREAM_INLINE void take_outliers(GroupVectors& in, float limit, int32_t first_column, Outlier*& end) {
  float values[kGroupColumns];
  for (int32_t i = 0; i < kGroupVectors; ++i) store_vector(values + i * kVectorLanes, in.part[i]);
  for (int32_t i = 0; i < kGroupColumns; ++i) {
    if (!(__builtin_fabsf(values[i]) > limit)) continue;
    *end++ = {.column = first_column + i, .value = values[i]};
    values[i] = 0.0F;
  }
  for (int32_t i = 0; i < kGroupVectors; ++i) in.part[i] = load_vector(values + i * kVectorLanes);
}

// Writes the low 8 bits of 32 integers.
SLIPSTREAM_INLINE void store_bytes(const VectorInt (&in)[kGroupVectors], int8_t* to) {
#if defined(__AVX2__) && !defined(__AVX512F__)
  __m256i low[kGroupVectors];
  for (int32_t i = 0; i < kGroupVectors; ++i) low[i] = reinterpret_cast<__m256i>(in[i] & 255);
  // Both packings work within 128 bits, so the eight words of four bytes come out interleaved.
  const __m256i packed = _mm256_packus_epi16(_mm256_packus_epi32(low[0], low[1]), _mm256_packus_epi32(low[2], low[3]));
  const __m256i ordered = _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), ordered);
#else
  typedef int8_t Bytes __attribute__((vector_size(kVectorLanes)));
  for (int32_t i = 0; i < kGroupVectors; ++i) {
    const Bytes bytes = __builtin_convertvector(in[i], Bytes);
    std::memcpy(to + i * kVectorLanes, &bytes, sizeof(bytes));
  }
#endif
}

// Rounds a group by its largest magnitude.
SLIPSTREAM_INLINE void round_group(const GroupVectors& in, float most, ActivationGroup& out) {
  constexpr float kRound = 12582912.0F;       // 1.5 * 2^23: adding it rounds to an integer, to even when halfway
  constexpr int32_t kRoundBits = 0x4B400000;  // the bits of kRound; the integer is the difference to them
  const float per_step = most > 1e-30F ? 127.0F / most : 0.0F;
  LanesInt sums = {};  // of the first half of the columns, and 2^16 times those of the second
  VectorInt rounded[kGroupVectors];
  for (int32_t i = 0; i < kGroupVectors; ++i) {
    const Vector shifted = in.part[i] * per_step + kRound;
    std::memcpy(&rounded[i], &shifted, sizeof(shifted));
    rounded[i] -= kRoundBits;
    sums.part[i % kLaneVectors] += i < kLaneVectors ? rounded[i] : rounded[i] << 16;
  }
  store_bytes(rounded, out.values);
  const int32_t both = sum(sums);  // any number if a column is not finite, as the scale then is not
  const auto first = static_cast<int16_t>(both);
  const int32_t total = first + static_cast<int16_t>((static_cast<uint32_t>(both) - static_cast<uint32_t>(first)) >> 16);
  out.scale = most / 127.0F;
  out.total = out.scale * static_cast<float>(total);
  out.bias[0] = static_cast<int32_t>(0U - 8U * static_cast<uint32_t>(total));
  out.bias[1] = static_cast<int32_t>(0U - 128U * static_cast<uint32_t>(total));
  out.bias[2] = -32 * first;
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
    const GroupVectors values = load_group(in, cols, group);
    for (int32_t i = 0; i < kLaneVectors; ++i) {
      const Vector first = values.part[i], second = values.part[i + kLaneVectors];
      squares.part[i] += first * first + second * second;
    }
  }
  const float limit = outlier_limit(sum(squares), cols);
  auto* end = reinterpret_cast<Outlier*>(out + groups);
  for (int32_t group = 0; group < groups; ++group) {
    GroupVectors values = load_group(in, cols, group);
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
