#include "tests/cuda/broken_kernels.h"

#include "kernels/cuda/block.cuh"

namespace slipstream::cuda {
namespace {

constexpr int kThreads = 64;

struct Floats {
  float at[kThreads];
};

__global__ void copy_kernel(const float* from, float* to, int32_t count) {
  const auto i = static_cast<int32_t>(threadIdx.x);
  if (i <= count) to[i] = from[i];
}

__global__ void write_input_kernel(const float* from) { const_cast<float*>(from)[threadIdx.x] = 1; }

__global__ void unwritten_kernel(float* out) { out[threadIdx.x] = shared_memory<Floats>().at[threadIdx.x]; }

__global__ void leave_kernel(float* out, int32_t index) {
  float* at = shared_memory<Floats>().at;
  if (threadIdx.x == 0) at[index] = 1;
  out[threadIdx.x] = 1;
}

__global__ void reverse_kernel(const float* from, float* to, bool with_barrier) {
  auto& shared = shared_memory<Floats>();
  const uint32_t i = threadIdx.x;
  shared.at[i] = 0;
  __syncthreads();
  shared.at[i] = from[i];
  if (with_barrier) __syncthreads();
  to[i] = shared.at[kThreads - 1 - i];
}

__global__ void reverse_warps_kernel(const float* from, float* to, bool with_barrier) {
  auto& shared = shared_memory<Floats>();
  const uint32_t i = threadIdx.x;
  shared.at[i] = 0;
  __syncthreads();
  shared.at[i] = from[i];
  if (with_barrier) __syncwarp();
  to[i] = shared.at[i ^ (kWarp - 1)];
}

__global__ void one_place_kernel(float* out, bool one_thread) {
  if (!one_thread || threadIdx.x == 0) *out = 1;
}

__global__ void count_kernel(int32_t* count, bool atomically) {
  if (atomically) {
    atomicAdd(count, 1);
  } else {
    ++*count;
  }
}

__global__ void half_kernel() {
  if (threadIdx.x >= kThreads / 2) return;
  __syncthreads();
}

__global__ void lanes_apart_kernel(int32_t* out) {
  const auto lane = static_cast<int32_t>(lane_of_thread());
  const bool odd = lane % 2 != 0;
  out[threadIdx.x] = odd ? __shfl_xor_sync(kAllLanes, lane, 2) : static_cast<int32_t>(__ballot_sync(kAllLanes, odd));
}

__global__ void beyond_kernel(const int32_t* index, float* out) {
  float values[4] = {1, 2, 3, 4};
  for (int i = 0; i < 4; ++i) values[i] *= static_cast<float>(index[i]);
  out[threadIdx.x] = values[index[threadIdx.x]];
}

}  // namespace

int copy_one_too_many(const float* from, float* to, int32_t count) {
  return launch(copy_kernel, dim3(1), dim3(kThreads), nullptr, from, to, count);
}
int write_input(const float* from) { return launch(write_input_kernel, dim3(1), dim3(kThreads), nullptr, from); }
int read_unwritten_shared(float* out) { return launch(unwritten_kernel, dim3(1), dim3(kThreads), nullptr, out); }
int leave_shared_memory(float* out, int32_t index) {
  return launch(leave_kernel, dim3(1), dim3(kThreads), nullptr, out, index);
}
int reverse(const float* from, float* to, bool with_barrier) {
  return launch(reverse_kernel, dim3(1), dim3(kThreads), nullptr, from, to, with_barrier);
}
int reverse_warps(const float* from, float* to, bool with_barrier) {
  return launch(reverse_warps_kernel, dim3(1), dim3(kThreads), nullptr, from, to, with_barrier);
}
int write_one_place(float* out, bool two_blocks) {
  return launch(one_place_kernel, dim3(two_blocks ? 2 : 1), dim3(kThreads), nullptr, out, two_blocks);
}
int count_threads(int32_t* count, bool atomically) {
  return launch(count_kernel, dim3(2), dim3(kThreads), nullptr, count, atomically);
}
int half_at_a_barrier() { return launch(half_kernel, dim3(1), dim3(kThreads), nullptr); }
int lanes_apart(int32_t* out) { return launch(lanes_apart_kernel, dim3(1), dim3(kThreads), nullptr, out); }
int index_beyond_array(const int32_t* index, float* out) {
  return launch(beyond_kernel, dim3(1), dim3(kThreads), nullptr, index, out);
}

}  // namespace slipstream::cuda
