// Rounds a row to int8 (ActivationGroup, kernels.h): its outliers are taken out, then each group is
// rounded by its largest magnitude. The maxima and sums of four groups are joined at once, since
// joining the lanes of one takes as many steps. Private to the kernels' .cpp files (lanes.h).
//
// Every path gives the same bits: maxima and sums of integers have no order, and each operation on
// floats is rounded once everywhere.
#pragma once

#include "kernels/cpu/lanes.h"

namespace slipstream {
namespace {

constexpr int32_t kJoinedGroups = 4;
constexpr int32_t kGroupVectors = kGroupColumns / kVectorLanes;
static_assert(kGroupColumns == 2 * kLanes);

// A number of each group.
typedef float FourFloats __attribute__((vector_size(4 * kJoinedGroups)));
typedef int32_t FourInts __attribute__((vector_size(4 * kJoinedGroups)));

// The columns of a group, by vectors.
struct GroupVectors {
  Vector part[kGroupVectors];
};
struct GroupInts {
  VectorInt part[kGroupVectors];
};

SLIPSTREAM_INLINE GroupVectors load_group(const float* row, int32_t cols, int32_t group) {
  GroupVectors values;
  for (int32_t i = 0; i < kGroupVectors; ++i) {
    const int32_t at = group * kGroupColumns + i * kVectorLanes;
    values.part[i] = load_vector_part(row + at, cols - at);
  }
  return values;
}

SLIPSTREAM_INLINE VectorInt magnitude_bits(Vector value) { return reinterpret_cast<VectorInt>(value) & 0x7FFFFFFF; }

// A bit for each lane that a comparison set.
SLIPSTREAM_INLINE uint32_t lanes_set(VectorInt lanes) {
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask(reinterpret_cast<__m512i>(lanes), reinterpret_cast<__m512i>(lanes));
#elif defined(__AVX2__)
  return static_cast<uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(lanes)));
#else
  uint32_t bits = 0;
  for (int32_t i = 0; i < kVectorLanes; ++i) bits |= static_cast<uint32_t>(lanes[i] & 1) << i;
  return bits;
#endif
}

// Moves the columns of a group that are larger than `limit` to the end of a row's outliers.
SLIPSTREAM_INLINE void take_outliers(GroupVectors& in, const float* row, int32_t group, float limit, Outlier*& end) {
#pragma GCC unroll 8
  for (int32_t i = 0; i < kGroupVectors; ++i) {
    const VectorInt large = reinterpret_cast<Vector>(magnitude_bits(in.part[i])) > every(limit);
    const int32_t first = group * kGroupColumns + i * kVectorLanes;
    for (uint32_t left = lanes_set(large); left != 0; left &= left - 1) {
      const int32_t column = first + __builtin_ctz(left);
      *end++ = {.column = column, .value = row[column]};
    }
    in.part[i] = reinterpret_cast<Vector>(reinterpret_cast<VectorInt>(in.part[i]) & ~large);
  }
}

// The bits of a group's largest magnitude, in four lanes that are still to be joined. As integers,
// the bits of NaN are above those of all numbers.
constexpr auto kLarger = [](auto a, auto b) { return a < b ? b : a; };
SLIPSTREAM_INLINE FourInts largest(const GroupVectors& in) {
  LanesInt most;
  for (int32_t i = 0; i < kLaneVectors; ++i) {
    most.part[i] = kLarger(magnitude_bits(in.part[i]), magnitude_bits(in.part[i + kLaneVectors]));
  }
  return quarter(most, kLarger);
}

// Lane i: the four lanes of in[i] joined.
template <class Join>
SLIPSTREAM_INLINE FourInts each_joined(const FourInts (&in)[kJoinedGroups], const Join& join) {
  const auto pairs = [&](FourInts a, FourInts b) __attribute__((always_inline)) {
    return join(__builtin_shufflevector(a, b, 0, 4, 1, 5), __builtin_shufflevector(a, b, 2, 6, 3, 7));
  };
  const FourInts first = pairs(in[0], in[1]), second = pairs(in[2], in[3]);
  return join(__builtin_shufflevector(first, second, 0, 1, 4, 5), __builtin_shufflevector(first, second, 2, 3, 6, 7));
}

// Rounds a group and writes its low 8 bits.
SLIPSTREAM_INLINE GroupInts rounded(const GroupVectors& in, float per_step) {
  constexpr float kRound = 12582912.0F;       // 1.5 * 2^23: adding it rounds to an integer, to even when halfway
  constexpr int32_t kRoundBits = 0x4B400000;  // the bits of kRound; the integer is the difference to them
  GroupInts out;
  for (int32_t i = 0; i < kGroupVectors; ++i) {
    out.part[i] = reinterpret_cast<VectorInt>(in.part[i] * per_step + kRound) - kRoundBits;
  }
  return out;
}

// Writes the low 8 bits of 32 integers.
SLIPSTREAM_INLINE void store_bytes(const GroupInts& in, int8_t* to) {
#if defined(__AVX2__) && !defined(__AVX512F__)
  __m256i low[kGroupVectors];
  for (int32_t i = 0; i < kGroupVectors; ++i) low[i] = reinterpret_cast<__m256i>(in.part[i] & 255);
  // Both packings work within 128 bits, so the eight words of four bytes come out interleaved.
  const __m256i packed = _mm256_packus_epi16(_mm256_packus_epi32(low[0], low[1]), _mm256_packus_epi32(low[2], low[3]));
  const __m256i ordered = _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), ordered);
#else
  typedef int8_t Bytes __attribute__((vector_size(kVectorLanes)));
  for (int32_t i = 0; i < kGroupVectors; ++i) {
    const Bytes bytes = __builtin_convertvector(in.part[i], Bytes);
    std::memcpy(to + i * kVectorLanes, &bytes, sizeof(bytes));
  }
#endif
}

// The sum of the first half of a group's columns, plus 2^16 times that of the second half, in four
// lanes that are still to be added.
SLIPSTREAM_INLINE FourInts both_sums(const GroupInts& in) {
  LanesInt sums;
  for (int32_t i = 0; i < kLaneVectors; ++i) sums.part[i] = in.part[i] + (in.part[i + kLaneVectors] << 16);
  return quarter(sums, [](auto a, auto b) { return a + b; });
}

// Rounds the groups [first, first + count) of a row, count <= kJoinedGroups.
SLIPSTREAM_INLINE void round_groups(const GroupVectors (&in)[kJoinedGroups], int32_t count, ActivationGroup* out) {
  FourInts lanes[kJoinedGroups];
#pragma GCC unroll 4
  for (int32_t i = 0; i < kJoinedGroups; ++i) lanes[i] = largest(in[i]);
  const auto most = reinterpret_cast<FourFloats>(each_joined(lanes, kLarger));
  const FourFloats per_step = most > 1e-30F ? 127.0F / most : FourFloats{}, scale = most / 127.0F;
#pragma GCC unroll 4
  for (int32_t i = 0; i < kJoinedGroups; ++i) {
    const GroupInts integers = rounded(in[i], per_step[i]);
    if (i < count) store_bytes(integers, out[i].values);
    lanes[i] = both_sums(integers);
  }
  // Any numbers if a column is not finite, as the scale then is not.
  const FourInts both = each_joined(lanes, [](auto a, auto b) { return a + b; });
  const auto of_first = both << 16 >> 16;
  const auto total = of_first + ((both - of_first) >> 16);
  const FourFloats scaled = scale * __builtin_convertvector(total, FourFloats);
  for (int32_t i = 0; i < count; ++i) {
    out[i].scale = scale[i];
    out[i].total = scaled[i];
    out[i].bias[0] = -8 * total[i];
    out[i].bias[1] = -128 * total[i];
    out[i].bias[2] = -32 * of_first[i];
  }
}

// The magnitude above which a column is an outlier, by the sum of a row's squares. A row that is
// not finite has no outliers. Nor has one so small that its squares may underflow: the limit would
// be too low, and more columns than outliers_max above it.
SLIPSTREAM_INLINE float outlier_limit(float squares, int32_t cols) {
  constexpr float kLeast = 1e-30F;
  if (!(squares > kLeast)) return __builtin_inff();
  return kOutlierFrom * __builtin_sqrtf(squares / static_cast<float>(cols));
}

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
  for (int32_t group = 0; group < groups; group += kJoinedGroups) {
    GroupVectors values[kJoinedGroups];
#pragma GCC unroll 4
    for (int32_t i = 0; i < kJoinedGroups; ++i) {
      values[i] = load_group(in, cols, group + i);  // zeros behind the last column
      take_outliers(values[i], in, group + i, limit, end);
    }
    round_groups(values, groups - group < kJoinedGroups ? groups - group : kJoinedGroups, out + group);
  }
  end->column = kNoColumn;
}

}  // namespace
}  // namespace slipstream
