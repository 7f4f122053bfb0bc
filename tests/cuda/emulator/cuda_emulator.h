// CUDA's words for kernels that are compiled as C++. A block's threads run as fibers on one thread
// of the host, in an order drawn from a seed, and blocks one after another. The compiler calls us
// before each access to memory (hooks.cpp), so kernels use raw pointers as on a GPU, and each
// access is checked (memory.h).
//
// What it asks of kernels: blocks of whole warps, all lanes in each exchange of a warp, shared
// memory by shared_memory() only (kernels/cuda/cuda.cuh).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned columns = 1, unsigned rows = 1, unsigned layers = 1) : x(columns), y(rows), z(layers) {}
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

namespace slipstream::emulator {

dim3 thread_index();
dim3 block_index();
dim3 block_size();
dim3 grid_size();

template <class Shared>
inline constexpr char kSharedKey = 0;
void* shared_memory(const void* key, size_t bytes);  // the block's memory of this key

enum class Exchange : uint8_t { barrier, shuffle, ballot, product };
// Waits for all lanes of the warp, then returns the value that lane `from` brought. A ballot
// returns a bit for each lane whose value is not 0.
uint64_t exchange(Exchange what, uint32_t lanes, uint64_t value, uint32_t from);
// What kernels/cuda/mma.cuh says. The sums of a number of d are added up in order.
void mma_bf16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);
void mma_f16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);
void block_barrier();
uint64_t atomic_add(void* address, size_t bytes, uint64_t value);

// A kernel with its arguments. REQUIRES: of one thread at a time.
struct Job {
  const void* kernel_and_arguments = nullptr;  // kernels may read these bytes
  size_t bytes = 0;
  void (*call)(const void* kernel_and_arguments) = nullptr;
};
// Runs all blocks. Returns 0, or 1 after a fault, which stops the launch.
int launch(const Job& job, dim3 grid, dim3 block);

template <class... Parameters>
int launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, Parameters... arguments) {
  struct Bound {
    void (*kernel)(Parameters...);
    std::tuple<Parameters...> arguments;
  };
  const Bound bound{kernel, {arguments...}};
  const auto call = [](const void* from) {
    const auto& own = *static_cast<const Bound*>(from);
    std::apply(own.kernel, own.arguments);
  };
  return launch({.kernel_and_arguments = &bound, .bytes = sizeof(bound), .call = call}, grid, block);
}

template <class T>
uint64_t bits_of(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<uint32_t>(value);
  else
    return std::bit_cast<uint64_t>(value);
}
template <class T>
T from_bits(uint64_t bits) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(static_cast<uint32_t>(bits));
  else
    return std::bit_cast<T>(bits);
}

inline uint32_t lane_index() {
  const dim3 at = thread_index(), size = block_size();
  return (at.x + size.x * (at.y + size.y * at.z)) % 32;
}

}  // namespace slipstream::emulator

#define threadIdx (::slipstream::emulator::thread_index())
#define blockIdx (::slipstream::emulator::block_index())
#define blockDim (::slipstream::emulator::block_size())
#define gridDim (::slipstream::emulator::grid_size())

inline void __syncthreads() { slipstream::emulator::block_barrier(); }
inline void __syncwarp(uint32_t lanes = 0xFFFFFFFF) {
  slipstream::emulator::exchange(slipstream::emulator::Exchange::barrier, lanes, 0, 0);
}
template <class T>
T __shfl_sync(uint32_t lanes, T value, uint32_t from) {
  using namespace slipstream::emulator;
  return from_bits<T>(exchange(Exchange::shuffle, lanes, bits_of(value), from % 32));
}
template <class T>
T __shfl_xor_sync(uint32_t lanes, T value, uint32_t mask) {
  return __shfl_sync(lanes, value, slipstream::emulator::lane_index() ^ mask);
}
inline uint32_t __ballot_sync(uint32_t lanes, bool value) {
  using namespace slipstream::emulator;
  return static_cast<uint32_t>(exchange(Exchange::ballot, lanes, value, 0));
}
inline bool __any_sync(uint32_t lanes, bool value) { return __ballot_sync(lanes, value) != 0; }

template <class T>
T atomicAdd(T* address, T value) {
  using namespace slipstream::emulator;
  static_assert(std::is_integral_v<T>, "sums of floats depend on their order");
  return from_bits<T>(atomic_add(address, sizeof(T), bits_of(value)));
}

inline int __popcll(unsigned long long bits) { return std::popcount(bits); }
inline int __ffsll(unsigned long long bits) { return bits == 0 ? 0 : std::countr_zero(bits) + 1; }
using std::max;
using std::min;
