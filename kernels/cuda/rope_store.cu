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

// A thread has a pair of a query's, a key's or a value's elements; the blocks of one x a row.
template <class T>
__global__ void __launch_bounds__(kThreads) rope_store_kernel(RopeStoreArgs args) {
  const auto row = static_cast<int32_t>(blockIdx.x), pair = static_cast<int32_t>(blockIdx.y * kThreads + threadIdx.x);
  const PagedCache& cache = args.cache;
  const int32_t size = cache.head_size, half = size / 2, turned = args.heads + cache.kv_heads;
  const int32_t head = pair / half, i = pair % half;
  if (head >= turned + cache.kv_heads) return;
  T* from = static_cast<T*>(args.qkv) + (int64_t{row} * (turned + cache.kv_heads) + head) * size;
  T* stored = static_cast<T*>(cache.data);
  if (head >= turned) {
    T* to = stored + cache.at(args.layer, args.slot[row], head - turned, 1);
    to[i] = from[i], to[i + half] = from[i + half];
    return;
  }
  const int64_t angle = int64_t{args.position[row]} * half + i;
  T* to = head < args.heads ? from : stored + cache.at(args.layer, args.slot[row], head - args.heads, 0);
  rotate(from, to, i, half, args.cosine[angle], args.sine[angle]);
}

}  // namespace

int rope_store(const RopeStoreArgs& args, Stream stream) {
  const int32_t pairs = (args.heads + 2 * args.cache.kv_heads) * args.cache.head_size / 2;
  const dim3 grid(static_cast<unsigned>(args.rows), static_cast<unsigned>((pairs + kThreads - 1) / kThreads));
  return with_element(args.cache.element, [&](auto element) {
    return launch(rope_store_kernel<decltype(element)>, grid, dim3(kThreads), stream, args);
  });
}

}  // namespace slipstream::cuda
