// Where the tests of kernels run: on the emulator, or on a GPU (cuda_gpu_test, which needs one).
#pragma once

#include <string>

#ifdef SLIPSTREAM_ON_GPU
#include "tests/cuda/gpu/device_array.h"
#else
#include "tests/cuda/emulator/device_array.h"
#include "tests/cuda/emulator/faults.h"
#endif

namespace slipstream::cuda {

#ifdef SLIPSTREAM_ON_GPU
using gpu::DeviceArray;
// What the launches did wrong since the last call; empty: nothing. Waits for them.
inline std::string take_fault() {
  const cudaError_t error = cudaDeviceSynchronize();
  return error == cudaSuccess ? "" : cudaGetErrorString(error);
}
#else
using emulator::DeviceArray;
using emulator::take_fault;
#endif

}  // namespace slipstream::cuda
