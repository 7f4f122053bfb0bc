#include "kernels/cuda/rms_norm.h"

#include "kernels/cuda/block.cuh"
#include "kernels/cuda/numbers.cuh"

namespace slipstream::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kHeadThreads = 128;
constexpr int kHeadsOfBlock = kHeadThreads / kWarp;

struct NormShared {
  float parts[kWarp];
};

__device__ float norm_scale(float squares, int32_t count, float eps) {
  return 1.0F / sqrtf(squares / static_cast<float>(count) + eps);
}

// A row, whose columns thread + i * kThreads a thread keeps in registers. T: of delta and out. R:
// of the residual stream.
template <class T, class R, int kHeld>
__global__ void __launch_bounds__(kThreads) add_rms_norm_kernel(RmsNormArgs args) {
  auto& shared = shared_memory<NormShared>();
  const int64_t row = int64_t{blockIdx.x} * args.cols;
  const auto first = static_cast<int32_t>(threadIdx.x);
  R* residual = static_cast<R*>(args.residual) + row;
  const T* delta = static_cast<const T*>(args.delta);
  float values[kHeld];
  SLIPSTREAM_UNROLL
  for (int32_t i = 0, col = first; i < kHeld; ++i, col += kThreads) values[i] = col < args.cols ? load(residual + col) : 0;
  if (delta != nullptr) {
    float added[kHeld];
    SLIPSTREAM_UNROLL
    for (int32_t i = 0, col = first; i < kHeld; ++i, col += kThreads) added[i] = col < args.cols ? load(delta + row + col) : 0;
    SLIPSTREAM_UNROLL
    for (int32_t i = 0, col = first; i < kHeld; ++i, col += kThreads) {
      R sum;
      store(&sum, values[i] + added[i]);
      values[i] = load(&sum);  // as the stream holds it
      if (col < args.cols) residual[col] = sum;
    }
  }
  float squares = 0;
  for (const float value : values) squares += value * value;
  const float sum = over_block(squares, shared.parts, [](float a, float b) { return a + b; });
  const float scale = norm_scale(sum, args.cols, args.eps);
  T* out = static_cast<T*>(args.out) + row;
  SLIPSTREAM_UNROLL
  for (int32_t i = 0, col = first; i < kHeld; ++i, col += kThreads) {
    if (col < args.cols) store(out + col, values[i] * scale * args.gain[col]);
  }
}

// A warp has a head.
template <class T>
__global__ void __launch_bounds__(kHeadThreads) norm_heads_kernel(HeadNormArgs args) {
  const auto head = static_cast<int32_t>(blockIdx.x * kHeadsOfBlock + warp_of_thread());
  if (head >= args.heads) return;
  T* at = static_cast<T*>(args.first) + int64_t{blockIdx.y} * args.stride + int64_t{head} * args.head_size;
  const auto lane = static_cast<int32_t>(lane_of_thread());
  float squares = 0;
  for (int32_t col = lane; col < args.head_size; col += kWarp) {
    const float value = load(at + col);
    squares += value * value;
  }
  const float sum = over_warp(squares, [](float a, float b) { return a + b; });
  const float scale = norm_scale(sum, args.head_size, args.eps);
  for (int32_t col = lane; col < args.head_size; col += kWarp) store(at + col, load(at + col) * scale * args.gain[col]);
}

template <class T, class R>
int add_rms_norm_as(const RmsNormArgs& args, Stream stream) {
  static_assert(kNormColumnsMax == 64 * kThreads);
  const int32_t held = (args.cols + kThreads - 1) / kThreads;
  const auto kernel = held <= 4    ? add_rms_norm_kernel<T, R, 4>
                      : held <= 8  ? add_rms_norm_kernel<T, R, 8>
                      : held <= 16 ? add_rms_norm_kernel<T, R, 16>
                      : held <= 32 ? add_rms_norm_kernel<T, R, 32>
                                   : add_rms_norm_kernel<T, R, 64>;
  return launch(kernel, dim3(static_cast<unsigned>(args.rows)), dim3(kThreads), stream, args);
}

}  // namespace

int add_rms_norm(const RmsNormArgs& args, Stream stream) {
  constexpr int kInvalidValue = 1;  // cudaErrorInvalidValue
  if (args.cols > kNormColumnsMax) return kInvalidValue;
  return with_element(args.element, [&](auto element) {
    using T = decltype(element);
    return args.stream == Element::f32 ? add_rms_norm_as<T, float>(args, stream) : add_rms_norm_as<T, T>(args, stream);
  });
}

int norm_heads(const HeadNormArgs& args, Stream stream) {
  const dim3 grid(static_cast<unsigned>((args.heads + kHeadsOfBlock - 1) / kHeadsOfBlock), static_cast<unsigned>(args.rows));
  return with_element(args.element, [&](auto element) {
    return launch(norm_heads_kernel<decltype(element)>, grid, dim3(kHeadThreads), stream, args);
  });
}

}  // namespace slipstream::cuda
