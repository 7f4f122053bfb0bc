// Vectors by GCC's vector types: one source, compiled once for each instruction set. Private to the
// kernels' .cpp files. Everything is in an unnamed namespace, because two files compile it with
// different flags and must not share a copy.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "kernels/cpu/kernels.h"

#define SLIPSTREAM_INLINE [[maybe_unused]] [[gnu::always_inline]] static inline

namespace slipstream {
namespace {

// One register: kVectorLanes floats.
#if defined(__AVX512F__)
constexpr int32_t kVectorLanes = 16;
#elif defined(__AVX2__)
constexpr int32_t kVectorLanes = 8;
#else
constexpr int32_t kVectorLanes = 4;
#endif
typedef float Vector __attribute__((vector_size(4 * kVectorLanes)));
typedef int32_t VectorInt __attribute__((vector_size(4 * kVectorLanes)));
typedef float VectorAnywhere __attribute__((vector_size(4 * kVectorLanes), aligned(4), may_alias));

SLIPSTREAM_INLINE Vector load_vector(const float* from) { return *reinterpret_cast<const VectorAnywhere*>(from); }
SLIPSTREAM_INLINE void store_vector(float* to, Vector value) { *reinterpret_cast<VectorAnywhere*>(to) = value; }
SLIPSTREAM_INLINE Vector load_vector_part(const float* from, int32_t count) {  // zeros behind the first `count`
  if (count >= kVectorLanes) return load_vector(from);
  Vector value = {};
  if (count > 0) std::memcpy(&value, from, static_cast<size_t>(count) * sizeof(float));
  return value;
}
SLIPSTREAM_INLINE void store_vector_part(float* to, Vector value, int32_t count) {
  if (count >= kVectorLanes) return store_vector(to, value);
  if (count > 0) std::memcpy(to, &value, static_cast<size_t>(count) * sizeof(float));
}
SLIPSTREAM_INLINE Vector every(float value) {
#if defined(__AVX512F__)
  return _mm512_set1_ps(value);
#elif defined(__AVX2__)
  return _mm256_set1_ps(value);
#else
  return Vector{value, value, value, value};
#endif
}

// a * b + c, with one rounding if the instruction set has FMA, with two otherwise. All code of one
// path rounds alike.
SLIPSTREAM_INLINE Vector multiply_add(Vector a, Vector b, Vector c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__AVX2__)
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}
SLIPSTREAM_INLINE Vector greater(Vector a, Vector b) { return a < b ? b : a; }  // a NaN in a stays

// kLanes numbers: one vector, or several on narrower instruction sets. Where the order of a sum
// matters it is that of these lanes, so that every path has the same. (GCC's own type of sixteen
// floats would say the same, and is computed through the stack where a register is narrower.)
constexpr int32_t kLaneVectors = kLanes / kVectorLanes;
struct Lanes {
  Vector part[kLaneVectors];
};
struct LanesInt {
  VectorInt part[kLaneVectors];
};

// Joins the upper half of the lanes with the lower half until four are left: the same order always.
template <class LanesOf, class Join>
[[gnu::always_inline]] inline auto quarter(LanesOf lanes, const Join& join) {
  for (int32_t half = kLaneVectors / 2; half > 0; half /= 2) {
    for (int32_t i = 0; i < half; ++i) lanes.part[i] = join(lanes.part[i], lanes.part[i + half]);
  }
  const auto all = lanes.part[0];
#if defined(__AVX512F__)
  const auto eight = join(__builtin_shufflevector(all, all, 0, 1, 2, 3, 4, 5, 6, 7),
                          __builtin_shufflevector(all, all, 8, 9, 10, 11, 12, 13, 14, 15));
#else
  const auto eight = all;
#endif
#if defined(__AVX2__)
  return join(__builtin_shufflevector(eight, eight, 0, 1, 2, 3), __builtin_shufflevector(eight, eight, 4, 5, 6, 7));
#else
  return eight;
#endif
}
// Until one is left.
template <class LanesOf, class Join>
[[gnu::always_inline]] inline auto folded(const LanesOf& lanes, const Join& join) {
  const auto four = quarter(lanes, join);
  const auto two = join(four, __builtin_shufflevector(four, four, 2, 3, 0, 1));
  return join(two, __builtin_shufflevector(two, two, 1, 0, 3, 2))[0];
}
template <class LanesOf>
[[gnu::always_inline]] inline auto sum(const LanesOf& lanes) {
  return folded(lanes, [](auto a, auto b) { return a + b; });
}
template <class LanesOf>
[[gnu::always_inline]] inline auto highest(const LanesOf& lanes) {
  return folded(lanes, [](auto a, auto b) { return a < b ? b : a; });
}

// e^x within about 2 ulp on [-87, 88]; x outside is clamped to that range, NaN stays NaN. Each
// element's result depends on that element only.
//
//   x = n ln 2 + r, |r| <= ln 2 / 2;  e^x = 2^n e^r, e^r by Taylor to the 7th power (error < 0.3466^8 / 8! = 5.2e-9)
SLIPSTREAM_INLINE Vector exp_of(Vector x) {
  constexpr float kLog2E = 1.44269504F, kRound = 12582912.0F;          // 1.5 * 2^23: adding it rounds to an integer
  constexpr float kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;  // their sum is ln 2; n * high is exact
  x = x < every(-87.0F) ? every(-87.0F) : x;
  x = x > every(88.0F) ? every(88.0F) : x;
  const Vector shifted = multiply_add(x, every(kLog2E), every(kRound));
  const Vector n = shifted - kRound;
  const Vector r = multiply_add(n, every(-kLn2Low), multiply_add(n, every(-kLn2High), x));
  Vector power = every(1.0F / 5040);
  for (const float term : {1.0F / 720, 1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1.0F, 1.0F})
    power = multiply_add(power, r, every(term));
  VectorInt bits;
  std::memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits - 0x4B400000 + 127) << 23;  // 2^n
  Vector scale;
  std::memcpy(&scale, &bits, sizeof(scale));
  return power * scale;
}

// tanh x within 3 ulp; NaN stays NaN. Each element's result depends on that element only.
//
//   |x| < 0.625   x + x^3 p(x^2), p from Cephes' tanhf
//   else          1 - 2 / (e^(2 |x|) + 1), with the sign of x
SLIPSTREAM_INLINE Vector tanh_of(Vector x) {
  const Vector size = x < every(0.0F) ? -x : x, square = x * x;
  Vector p = every(-5.70498872745e-3F);
  for (const float term : {2.06390887954e-2F, -5.37397155531e-2F, 1.33314422036e-1F, -3.33332819422e-1F}) {
    p = multiply_add(p, square, every(term));
  }
  const Vector near = multiply_add(p * square, x, x), far = 1.0F - 2.0F / (exp_of(size + size) + 1.0F);
  return size < every(0.625F) ? near : x < every(0.0F) ? -far : far;
}

// cap * tanh(score / cap).
SLIPSTREAM_INLINE Vector soft_capped(Vector score, float cap) { return tanh_of(score / every(cap)) * every(cap); }

}  // namespace
}  // namespace slipstream
