// The gate of a feed-forward layer: out = silu(gate) * up.
#pragma once

#include <cstdint>

#include "kernels/cuda/element.h"
#include "kernels/cuda/stream.h"

namespace slipstream::cuda {

struct SiluGateArgs {
  const void* gate_up = nullptr;  // [rows, 2 cols] of `element`: a row is gate, then up
  void* out = nullptr;            // [rows, cols]
  int32_t rows = 0, cols = 0;
  Element element = Element::bf16;
};

// Returns the CUDA runtime's error code; 0: the kernel is on the stream. Each element on its own.
int silu_gate(const SiluGateArgs& args, Stream stream);

}  // namespace slipstream::cuda
