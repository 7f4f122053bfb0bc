// What the kernels see of CUDA. nvcc compiles them for a GPU; any C++ compiler compiles the same
// sources for the emulator of tests/cuda, whose header is then found under its own name.
#pragma once

// SLIPSTREAM_UNROLL before a loop keeps the arrays that it indexes in registers.
#ifdef __CUDACC__
#include <cuda_runtime.h>
#define SLIPSTREAM_UNROLL _Pragma("unroll")
#else
#include <cuda_emulator.h>
#define SLIPSTREAM_UNROLL
#endif

#include <cstdint>

#include "kernels/cuda/stream.h"

namespace slipstream::cuda {

inline constexpr int32_t kWarp = 32;
inline constexpr uint32_t kAllLanes = 0xFFFFFFFF;

#ifdef __CUDACC__
// The shared memory of a block, as one struct. Nothing in it is initialised.
template <class Shared>
__device__ Shared& shared_memory() {
  static_assert(sizeof(Shared) <= 48 * 1024, "more shared memory than a launch has without asking for it");
  __shared__ alignas(Shared) unsigned char bytes[sizeof(Shared)];
  return *reinterpret_cast<Shared*>(bytes);
}

// Launches a kernel. Returns the CUDA runtime's error code; 0: it was launched.
template <class... Parameters, class... Arguments>
int launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, Stream stream, Arguments... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}
#else
template <class Shared>
Shared& shared_memory() {
  static_assert(sizeof(Shared) <= 48 * 1024, "more shared memory than a launch has without asking for it");
  return *static_cast<Shared*>(emulator::shared_memory(&emulator::kSharedKey<Shared>, sizeof(Shared)));
}

template <class... Parameters, class... Arguments>
int launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, Stream, Arguments... arguments) {
  return emulator::launch(kernel, grid, block, Parameters(arguments)...);
}
#endif

}  // namespace slipstream::cuda
