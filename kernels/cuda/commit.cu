#include "kernels/cuda/commit.h"

#include "kernels/cuda/numbers.cuh"

namespace slipstream::cuda {
namespace {

constexpr int kThreads = 128;

// A block has the keys or the values of one head and layer. A thread does all moves of its columns,
// so that they happen in order without a barrier.
template <class T>
__global__ void __launch_bounds__(kThreads) commit_kernel(CommitArgs args) {
  const PagedCache& cache = args.cache;
  const auto layer = static_cast<int32_t>(blockIdx.y), head = static_cast<int32_t>(blockIdx.x / 2);
  const auto part = static_cast<int32_t>(blockIdx.x % 2);
  T* data = static_cast<T*>(cache.data);
  for (auto col = static_cast<int32_t>(threadIdx.x); col < cache.head_size; col += kThreads) {
    for (int32_t move = 0; move < args.count; ++move) {
      const int32_t from = args.moves[2 * move], to = args.moves[2 * move + 1];
      data[cache.at(layer, to, head, part) + col] = data[cache.at(layer, from, head, part) + col];
    }
  }
}

}  // namespace

int commit(const CommitArgs& args, Stream stream) {
  const dim3 grid(static_cast<unsigned>(2 * args.cache.kv_heads), static_cast<unsigned>(args.cache.layers));
  return with_element(args.cache.element, [&](auto element) {
    return launch(commit_kernel<decltype(element)>, grid, dim3(kThreads), stream, args);
  });
}

}  // namespace slipstream::cuda
