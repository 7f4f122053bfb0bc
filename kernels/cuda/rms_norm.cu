#include "kernels/cuda/rms_norm.h"

#include "kernels/cuda/block.cuh"
#include "kernels/cuda/numbers.cuh"

namespace slipstream::cuda {
namespace {

constexpr int kThreads = 256;

struct NormShared {
  float parts[kWarp];
};

template <class T>
__global__ void __launch_bounds__(kThreads) add_rms_norm_kernel(RmsNormArgs args) {
  auto& shared = shared_memory<NormShared>();
  const int64_t row = int64_t{blockIdx.x} * args.cols;
  const int32_t first = static_cast<int32_t>(threadIdx.x);
  float* residual = args.residual + row;
  const T* delta = static_cast<const T*>(args.delta);
  float squares = 0;
  for (int32_t col = first; col < args.cols; col += kThreads) {
    float value = residual[col];
    if (delta != nullptr) {
      value += load(delta + row + col);
      residual[col] = value;
    }
    squares += value * value;
  }
  const float sum = over_block(squares, shared.parts, [](float a, float b) { return a + b; });
  const float scale = 1.0F / sqrtf(sum / static_cast<float>(args.cols) + args.eps);
  T* out = static_cast<T*>(args.out) + row;
  for (int32_t col = first; col < args.cols; col += kThreads) store(out + col, residual[col] * scale * args.gain[col]);
}

}  // namespace

int add_rms_norm(const RmsNormArgs& args, Stream stream) {
  return with_element(args.element, [&](auto element) {
    return launch(add_rms_norm_kernel<decltype(element)>, dim3(static_cast<unsigned>(args.rows)), dim3(kThreads), stream, args);
  });
}

}  // namespace slipstream::cuda
