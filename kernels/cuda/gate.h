// The gates of a feed-forward layer: out = silu(gate) * up, or gelu(gate) * up.
#pragma once

#include <cstdint>

#include "kernels/cuda/element.h"
#include "kernels/cuda/stream.h"

namespace slipstream::cuda {

struct GateArgs {
  const void* gate_up = nullptr;  // [rows, 2 cols] of `element`: a row is gate, then up
  void* out = nullptr;            // [rows, cols]
  int32_t rows = 0, cols = 0;
  Element element = Element::bf16;
};

// Both return the CUDA runtime's error code; 0: the kernel is on the stream. Each element on its
// own.
int silu_gate(const GateArgs& args, Stream stream);
// By tanh: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))).
int gelu_gate(const GateArgs& args, Stream stream);

}  // namespace slipstream::cuda
