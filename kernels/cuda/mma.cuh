// Products by tensor cores: what a warp computes together. The emulator has a twin.
//
// Of a fragment, lane = 4 g + t holds these elements, two numbers of 16 bits a word, the lower
// index in the lower half (PTX ISA, "Matrix Fragments for mma.m16n8k16"):
//
//   a [16, 16]  word 0: (row g, columns 2t, 2t + 1), 1: row g + 8, 2: columns + 8, 3: both
//   b [16, 8]   word 0: (rows 2t, 2t + 1, column g), 1: rows + 8
//   d [16, 8]   number 0, 1: (row g, columns 2t, 2t + 1), 2, 3: row g + 8
//
// A row of d depends on that row of a, and on b, alone.
#pragma once

#include <cstdint>

#include "kernels/cuda/numbers.cuh"

namespace slipstream::cuda {

// d += a b, in f32. All lanes of the warp call it together.
__device__ inline void mma_bf16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#ifdef __CUDACC__
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  emulator::mma_bf16(d, a, b0, b1);
#endif
}

__device__ inline void mma_f16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#ifdef __CUDACC__
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  emulator::mma_f16(d, a, b0, b1);
#endif
}
__device__ inline void mma(Bf16, float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) { mma_bf16(d, a, b0, b1); }
__device__ inline void mma(F16, float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) { mma_f16(d, a, b0, b1); }

// Two numbers as a word of bf16, rounded to the nearest.
__device__ inline uint32_t pack_bf16(float low, float high) {
#ifdef __CUDACC__
  uint32_t word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
#else
  return uint32_t{f32_to_bf16(low)} | uint32_t{f32_to_bf16(high)} << 16;
#endif
}

__device__ inline uint32_t pack_f16(float low, float high) {
#ifdef __CUDACC__
  uint32_t word;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
#else
  return uint32_t{f32_to_f16(low)} | uint32_t{f32_to_f16(high)} << 16;
#endif
}
__device__ inline uint32_t pack(Bf16, float low, float high) { return pack_bf16(low, high); }
__device__ inline uint32_t pack(F16, float low, float high) { return pack_f16(low, high); }

// Sums of the numbers of two words of bf16, rounded to the nearest.
__device__ inline uint32_t add_bf16(uint32_t a, uint32_t b) {
#ifdef __CUDACC__
  constexpr uint32_t kOnes = 0x3F803F80;
  uint32_t sum;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(kOnes), "r"(b));
  return sum;
#else
  const auto low = [](uint32_t word) { return bf16_to_f32(static_cast<uint16_t>(word)); };
  return pack_bf16(low(a) + low(b), low(a >> 16) + low(b >> 16));
#endif
}

// The lower halves of two words, or their upper ones.
__device__ inline uint32_t lower_halves(uint32_t a, uint32_t b) { return (a & 0xFFFFu) | b << 16; }
__device__ inline uint32_t upper_halves(uint32_t a, uint32_t b) { return a >> 16 | (b & 0xFFFF0000u); }

}  // namespace slipstream::cuda
