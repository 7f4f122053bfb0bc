#include "kernels/cuda/silu_gate.h"

#include "kernels/cuda/numbers.cuh"

namespace slipstream::cuda {
namespace {

constexpr int kThreads = 256;

// A block has kThreads columns of one row.
template <class T>
__global__ void __launch_bounds__(kThreads) silu_gate_kernel(SiluGateArgs args) {
  const auto col = static_cast<int32_t>(blockIdx.x * kThreads + threadIdx.x);
  if (col >= args.cols) return;
  const int64_t row = blockIdx.y;
  const T* in = static_cast<const T*>(args.gate_up) + row * 2 * args.cols;
  const float gate = load(in + col), up = load(in + args.cols + col);
  store(static_cast<T*>(args.out) + row * args.cols + col, gate / (1.0F + expf(-gate)) * up);
}

}  // namespace

int silu_gate(const SiluGateArgs& args, Stream stream) {
  const dim3 grid(static_cast<unsigned>((args.cols + kThreads - 1) / kThreads), static_cast<unsigned>(args.rows));
  return with_element(args.element, [&](auto element) {
    return launch(silu_gate_kernel<decltype(element)>, grid, dim3(kThreads), stream, args);
  });
}

}  // namespace slipstream::cuda
