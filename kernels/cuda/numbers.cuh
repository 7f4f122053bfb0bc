// The element types of the kernels: f32, bf16 and f16. Every kernel computes in f32.
#pragma once

#include <cstdint>

#include "kernels/cuda/cuda.cuh"
#include "kernels/cuda/element.h"
#include "kernels/exact/half.h"

namespace slipstream::cuda {

struct Bf16 {
  uint16_t bits;
};
struct F16 {
  uint16_t bits;
};

// Rounds to the nearest, as f32_to_f16().
__device__ inline F16 rounded_to_f16(float value) {
#ifdef __CUDACC__
  F16 half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half.bits) : "f"(value));
  return half;
#else
  return {f32_to_f16(value)};
#endif
}

__device__ inline float load(const float* from) { return *from; }
__device__ inline float load(const Bf16* from) { return bf16_to_f32(from->bits); }
__device__ inline float load(const F16* from) { return f16_to_f32(from->bits); }
__device__ inline void store(float* to, float value) { *to = value; }
__device__ inline void store(Bf16* to, float value) { to->bits = f32_to_bf16(value); }
__device__ inline void store(F16* to, float value) { *to = rounded_to_f16(value); }

// Up to 16 bytes, which one instruction loads.
template <class T, int kBytes = 16>
struct alignas(kBytes) Pack {
  T at[kBytes / sizeof(T)];
};

// Calls run(T{}) with the C++ type of an element.
template <class Run>
int with_element(Element element, const Run& run) {
  if (element == Element::f32) return run(float{});
  return element == Element::bf16 ? run(Bf16{}) : run(F16{});
}

}  // namespace slipstream::cuda
