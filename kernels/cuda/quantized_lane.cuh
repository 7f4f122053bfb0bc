// What a lane has of a group of a quantised matrix (quantized_matrix.h), as numbers in bf16.
#pragma once

#include "kernels/cuda/cuda.cuh"
#include "kernels/cuda/mma.cuh"
#include "kernels/cuda/quantized_matrix.h"

namespace slipstream::cuda {

// A lane's part of a group as it lies in memory.
template <WeightFormat kFormat>
struct PackedLane {
  uint32_t q[kFormat == WeightFormat::q8_0 ? 2 : 1] = {};
  uint32_t high = 0;
};

// at: the group of the matrix, all panels counted.
template <WeightFormat kFormat>
__device__ PackedLane<kFormat> load_lane(const QuantizedMatrix& matrix, int64_t at, int32_t lane) {
  PackedLane<kFormat> packed;
  const int64_t own = at * kGroupLanes + lane;
  if constexpr (kFormat == WeightFormat::q8_0) {
    struct alignas(8) Both {
      uint32_t low, high;
    };
    const Both both = reinterpret_cast<const Both*>(matrix.q)[own];
    packed.q[0] = both.low, packed.q[1] = both.high;
  } else {
    packed.q[0] = reinterpret_cast<const uint32_t*>(matrix.q)[own];
  }
  if constexpr (high_bits(kFormat) == 1) packed.high = matrix.high[own];
  if constexpr (high_bits(kFormat) == 2) packed.high = reinterpret_cast<const uint16_t*>(matrix.high)[own];
  return packed;
}

// Each pair as a word of bf16: q less the zero of its format, exactly. In bf16 the bits 0x4300 + n
// are 128 + n for n < 128, so the integer is put there, and what is too much is taken away.
template <WeightFormat kFormat>
__device__ void unpack_lane(const PackedLane<kFormat>& packed, uint32_t (&pairs)[kLanePairs]) {
  constexpr uint32_t k128 = 0x43004300, kMinus = 0x80008000;
  SLIPSTREAM_UNROLL
  for (int32_t pair = 0; pair < kLanePairs; ++pair) {
    if constexpr (kFormat == WeightFormat::q8_0) {
      const uint32_t bytes = packed.q[pair / 2] >> (8 * (pair % 2)) & 0x00FF00FF;
      const uint32_t less = k128 | (~bytes & 0x00800080);  // 128; 256 where the number is below zero
      pairs[pair] = add_bf16((bytes & 0x007F007F) | k128, less | kMinus);
    } else {
      constexpr uint32_t kZero = zero_of(kFormat);
      uint32_t q = packed.q[0] >> (4 * pair) & 0x000F000F;
      if constexpr (high_bits(kFormat) > 0) {
        constexpr int32_t kBits = high_bits(kFormat);
        constexpr uint32_t kMask = (1u << kBits) - 1;
        q |= (packed.high >> (kBits * pair) & kMask) << 4 | (packed.high >> (kBits * (4 + pair)) & kMask) << 20;
      }
      pairs[pair] = add_bf16(q | k128, (k128 + (kZero << 16 | kZero)) | kMinus);
    }
  }
}

}  // namespace slipstream::cuda
