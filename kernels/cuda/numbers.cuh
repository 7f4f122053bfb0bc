// The element types of the kernels: f32 and bf16. Every kernel computes in f32.
#pragma once

#include <cstdint>

#include "kernels/cuda/cuda.cuh"
#include "kernels/cuda/element.h"
#include "kernels/exact/half.h"

namespace slipstream::cuda {

struct Bf16 {
  uint16_t bits;
};

__device__ inline float load(const float* from) { return *from; }
__device__ inline float load(const Bf16* from) { return bf16_to_f32(from->bits); }
__device__ inline void store(float* to, float value) { *to = value; }
__device__ inline void store(Bf16* to, float value) { to->bits = f32_to_bf16(value); }

// Up to 16 bytes, which one instruction loads.
template <class T, int kBytes = 16>
struct alignas(kBytes) Pack {
  T at[kBytes / sizeof(T)];
};

// Calls run(T{}) with the C++ type of an element.
template <class Run>
int with_element(Element element, const Run& run) {
  return element == Element::f32 ? run(float{}) : run(Bf16{});
}

}  // namespace slipstream::cuda
