#include "kernels/cuda/attend.h"

#include "kernels/cuda/attend_f32.cuh"
#include "kernels/cuda/attend_half.cuh"

namespace slipstream::cuda {
namespace {

// Joins the splits of one row and head that it sees, in their order.
template <class T>
__global__ void __launch_bounds__(kHeadSizeMax) join_splits_kernel(AttendArgs args) {
  const auto row = static_cast<int32_t>(blockIdx.x), head = static_cast<int32_t>(blockIdx.y);
  const int32_t keys = keys_of(args, row), size = args.cache.head_size, col = static_cast<int32_t>(threadIdx.x);
  if (keys <= kSplitKeys || col >= size) return;
  const int32_t splits = (keys + kSplitKeys - 1) / kSplitKeys, first = first_key_of(args, row) / kSplitKeys;
  float highest = -INFINITY;
  for (int32_t split = first; split < splits; ++split) highest = fmaxf(highest, part_at(args, row, split, head)[size]);
  float sum = 0, total = 0;
  for (int32_t split = first; split < splits; ++split) {
    const float* part = part_at(args, row, split, head);
    const float weight = expf(part[size] - highest);
    sum = fmaf(part[col], weight, sum);
    total = fmaf(part[size + 1], weight, total);
  }
  store(static_cast<T*>(args.out) + (int64_t{row} * args.heads + head) * size + col, sum / total);
}

// T: of the cache's numbers.
template <class T>
int attend_as(const AttendArgs& args, Stream stream) {
  const int32_t group = args.heads / args.cache.kv_heads;
  const dim3 grid(static_cast<unsigned>(args.items_count), static_cast<unsigned>(args.cache.kv_heads),
                  static_cast<unsigned>((group + kAttendQueries - 1) / kAttendQueries));
  const bool small = args.cache.head_size <= 64;
  const auto kernel = [small] {
    if constexpr (sizeof(T) == sizeof(float))
      return small ? attend_f32_kernel<64> : attend_f32_kernel<kHeadSizeMax>;
    else
      return small ? attend_half_kernel<T, 64> : attend_half_kernel<T, kHeadSizeMax>;
  }();
  const int error = launch(kernel, grid, dim3(kAttendThreads), stream, args);
  if (error != 0) return error;
  return launch(join_splits_kernel<T>, dim3(static_cast<unsigned>(args.rows), static_cast<unsigned>(args.heads)),
                dim3(kHeadSizeMax), stream, args);
}

}  // namespace

int attend(const AttendArgs& args, Stream stream) {
  constexpr int kInvalidValue = 1;  // cudaErrorInvalidValue
  const int32_t size = args.cache.head_size, kv_heads = args.cache.kv_heads;
  if (size <= 0 || size > kHeadSizeMax || size % 4 != 0 || args.heads % kv_heads != 0) return kInvalidValue;
  return with_element(args.cache.element, [&](auto element) { return attend_as<decltype(element)>(args, stream); });
}

}  // namespace slipstream::cuda
