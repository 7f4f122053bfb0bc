// Sums and maxima over a block. The order of a sum depends on the number of threads only, so a row
// gets the same bits whatever other rows there are.
#pragma once

#include "kernels/cuda/cuda.cuh"

namespace slipstream::cuda {

__device__ inline uint32_t lane_of_thread() { return threadIdx.x % kWarp; }
__device__ inline uint32_t warp_of_thread() { return threadIdx.x / kWarp; }

// join(value of every lane); every lane gets it. join is commutative.
template <class T, class Join>
__device__ T over_warp(T value, const Join& join) {
  for (uint32_t mask = kWarp / 2; mask > 0; mask /= 2) value = join(value, __shfl_xor_sync(kAllLanes, value, mask));
  return value;
}

// The same over a block of up to 32 warps. `parts` is shared memory, free before and after.
template <class T, class Join>
__device__ T over_block(T value, T (&parts)[kWarp], const Join& join) {
  value = over_warp(value, join);
  if (lane_of_thread() == 0) parts[warp_of_thread()] = value;
  __syncthreads();
  value = parts[0];
  for (uint32_t warp = 1; warp < blockDim.x / kWarp; ++warp) value = join(value, parts[warp]);
  __syncthreads();
  return value;
}

}  // namespace slipstream::cuda
