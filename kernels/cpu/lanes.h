// Vectors of sixteen floats, by GCC's vector types: one source, compiled once for each instruction
// set. Private to the kernels' .cpp files. Everything is in an unnamed namespace, because two files
// compile it with different flags and must not share a copy.
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

typedef float Lanes __attribute__((vector_size(4 * kLanes)));
typedef int32_t LanesInt __attribute__((vector_size(4 * kLanes)));
typedef float LanesAnywhere __attribute__((vector_size(4 * kLanes), aligned(4), may_alias));

SLIPSTREAM_INLINE Lanes load(const float* from) { return *reinterpret_cast<const LanesAnywhere*>(from); }
SLIPSTREAM_INLINE void store(float* to, Lanes value) { *reinterpret_cast<LanesAnywhere*>(to) = value; }
SLIPSTREAM_INLINE Lanes load_part(const float* from, int32_t count) {  // zeros from lane `count` on
  if (count == kLanes) return load(from);
  Lanes value = {};
  std::memcpy(&value, from, static_cast<size_t>(count) * sizeof(float));
  return value;
}
SLIPSTREAM_INLINE void store_part(float* to, Lanes value, int32_t count) {
  if (count == kLanes) return store(to, value);
  std::memcpy(to, &value, static_cast<size_t>(count) * sizeof(float));
}
SLIPSTREAM_INLINE Lanes all(float value) {
  return Lanes{value, value, value, value, value, value, value, value, value, value, value, value, value, value, value, value};
}
SLIPSTREAM_INLINE Lanes greater(Lanes a, Lanes b) { return a < b ? b : a; }  // a NaN in a stays

// One register: kVectorLanes floats. A Lanes is made of several on narrower instruction sets, and
// its arithmetic is the same element by element. Loops that must be fast are written in Vectors.
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
#if !defined(__AVX512F__)
SLIPSTREAM_INLINE Lanes multiply_add(Lanes a, Lanes b, Lanes c) {
#if defined(__AVX2__)
  Vector x[2], y[2], z[2];
  std::memcpy(x, &a, sizeof(a));
  std::memcpy(y, &b, sizeof(b));
  std::memcpy(z, &c, sizeof(c));
  for (int part = 0; part < 2; ++part) z[part] = multiply_add(x[part], y[part], z[part]);
  std::memcpy(&c, z, sizeof(c));
  return c;
#else
  return a * b + c;
#endif
}
#endif

// Joins the upper half of the lanes with the lower half until one is left: the same order always.
template <class Sixteen, class Join>
[[gnu::always_inline]] inline auto folded(Sixteen lanes, const Join& join) {
  const auto eight = join(__builtin_shufflevector(lanes, lanes, 0, 1, 2, 3, 4, 5, 6, 7),
                          __builtin_shufflevector(lanes, lanes, 8, 9, 10, 11, 12, 13, 14, 15));
  const auto four = join(__builtin_shufflevector(eight, eight, 0, 1, 2, 3), __builtin_shufflevector(eight, eight, 4, 5, 6, 7));
  const auto two = join(four, __builtin_shufflevector(four, four, 2, 3, 0, 1));
  return join(two, __builtin_shufflevector(two, two, 1, 0, 3, 2))[0];
}
template <class Sixteen>
[[gnu::always_inline]] inline auto sum(Sixteen lanes) {
  return folded(lanes, [](auto a, auto b) { return a + b; });
}
template <class Sixteen>
[[gnu::always_inline]] inline auto highest(Sixteen lanes) {
  return folded(lanes, [](auto a, auto b) { return a < b ? b : a; });
}

// e^x within about 2 ulp on [-87, 88]; x outside is clamped to that range, NaN stays NaN. Each
// element's result depends on that element only.
//
//   x = n ln 2 + r, |r| <= ln 2 / 2;  e^x = 2^n e^r, e^r by Taylor to the 7th power (error < 0.3466^8 / 8! = 5.2e-9)
SLIPSTREAM_INLINE Lanes exp_of(Lanes x) {
  constexpr float kLog2E = 1.44269504F, kRound = 12582912.0F;          // 1.5 * 2^23: adding it rounds to an integer
  constexpr float kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;  // their sum is ln 2; n * high is exact
  x = x < all(-87.0F) ? all(-87.0F) : x;
  x = x > all(88.0F) ? all(88.0F) : x;
  const Lanes shifted = multiply_add(x, all(kLog2E), all(kRound));
  const Lanes n = shifted - kRound;
  const Lanes r = multiply_add(n, all(-kLn2Low), multiply_add(n, all(-kLn2High), x));
  Lanes power = all(1.0F / 5040);
  for (const float term : {1.0F / 720, 1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1.0F, 1.0F})
    power = multiply_add(power, r, all(term));
  LanesInt bits;
  std::memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits - 0x4B400000 + 127) << 23;  // 2^n
  Lanes scale;
  std::memcpy(&scale, &bits, sizeof(scale));
  return power * scale;
}

}  // namespace
}  // namespace slipstream
