#include "kernels/cuda/gate.h"

#include "kernels/cuda/numbers.cuh"

namespace slipstream::cuda {
namespace {

constexpr int kThreads = 256;

// x / 2 * (1 + tanh u) is x / (1 + e^(-2 u)), as silu is x / (1 + e^-x).
template <bool kGelu>
__device__ float gated(float gate) {
  constexpr float kTwice = 1.59576912F, kCube = 0.044715F;  // 2 sqrt(2 / pi)
  const float above = kGelu ? kTwice * gate * fmaf(kCube * gate, gate, 1.0F) : gate;
  return gate / (1.0F + expf(-above));
}

// A block has kThreads columns of one row.
template <class T, bool kGelu>
__global__ void __launch_bounds__(kThreads) gate_kernel(GateArgs args) {
  const auto col = static_cast<int32_t>(blockIdx.x * kThreads + threadIdx.x);
  if (col >= args.cols) return;
  const int64_t row = blockIdx.y;
  const T* in = static_cast<const T*>(args.gate_up) + row * 2 * args.cols;
  const float gate = load(in + col), up = load(in + args.cols + col);
  store(static_cast<T*>(args.out) + row * args.cols + col, gated<kGelu>(gate) * up);
}

template <bool kGelu>
int run(const GateArgs& args, Stream stream) {
  const dim3 grid(static_cast<unsigned>((args.cols + kThreads - 1) / kThreads), static_cast<unsigned>(args.rows));
  return with_element(args.element, [&](auto element) {
    return launch(gate_kernel<decltype(element), kGelu>, grid, dim3(kThreads), stream, args);
  });
}

}  // namespace

int silu_gate(const GateArgs& args, Stream stream) { return run<false>(args, stream); }
int gelu_gate(const GateArgs& args, Stream stream) { return run<true>(args, stream); }

}  // namespace slipstream::cuda
