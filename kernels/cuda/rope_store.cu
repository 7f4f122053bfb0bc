#include "kernels/cuda/rope_store.h"

#include "kernels/cuda/numbers.cuh"

namespace slipstream::cuda {
namespace {

constexpr int kThreads = 128;

// Rotates the pair i of a head of queries in place, or of keys on its way to the cache.
template <class T>
__device__ void rotate(const T* from, T* to, int32_t i, int32_t half, float cosine, float sine) {
  const float low = load(from + i), high = load(from + i + half);
  store(to + i, low * cosine - high * sine);
  store(to + i + half, high * cosine + low * sine);
}

// One block a row.
template <class T>
__global__ void __launch_bounds__(kThreads) rope_store_kernel(RopeStoreArgs args) {
  const auto row = static_cast<int32_t>(blockIdx.x);
  const PagedCache& cache = args.cache;
  const int32_t size = cache.head_size, half = size / 2, turned = args.heads + cache.kv_heads;
  T* in = static_cast<T*>(args.qkv) + int64_t{row} * (turned + cache.kv_heads) * size;
  T* stored = static_cast<T*>(cache.data);
  const int32_t slot = args.slot[row];
  const int64_t angles = int64_t{args.position[row]} * half;
  for (auto pair = static_cast<int32_t>(threadIdx.x); pair < turned * half; pair += kThreads) {
    const int32_t head = pair / half, i = pair % half;
    T* from = in + int64_t{head} * size;
    T* to = head < args.heads ? from : stored + cache.at(args.layer, slot, head - args.heads, 0);
    rotate(from, to, i, half, args.cosine[angles + i], args.sine[angles + i]);
  }
  for (auto at = static_cast<int32_t>(threadIdx.x); at < cache.kv_heads * size; at += kThreads) {
    stored[cache.at(args.layer, slot, at / size, 1) + at % size] = in[int64_t{turned} * size + at];
  }
}

}  // namespace

int rope_store(const RopeStoreArgs& args, Stream stream) {
  return with_element(args.cache.element, [&](auto element) {
    return launch(rope_store_kernel<decltype(element)>, dim3(static_cast<unsigned>(args.rows)), dim3(kThreads), stream, args);
  });
}

}  // namespace slipstream::cuda
