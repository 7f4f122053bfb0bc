// Rotary position embedding as the served network computes it: halves of a head rotate together.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "common/checkpoint/llama_config.h"

namespace slipstream::train {

class Rotary {
 public:
  // For the positions [0, positions) of tensors on that device.
  Rotary(const LlamaConfig& config, int64_t positions, at::Device device);

  // x: [sequences, heads, length, head_size]; its rows have the positions [first, first + length).
  // Returns the same shape and type; computes in f32. REQUIRES: first + length <= positions.
  at::Tensor rotate(const at::Tensor& x, int64_t first = 0) const;

 private:
  at::Tensor cosine_, sine_;  // [positions, head_size / 2] f32
};

}  // namespace slipstream::train
