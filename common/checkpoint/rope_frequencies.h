// The angles of rotary position embedding (RoPE), as a model's configuration describes them.
#pragma once

#include <vector>

#include "common/checkpoint/llama_config.h"

namespace slipstream {

// [head_size / 2] the angle per position by which pair i of a head's columns is rotated:
// theta^(-2i / head_size), then scaled as in Llama 3.1's reference if the model asks for it, then
// divided by rope_divisors[i] if it has some.
std::vector<float> rope_frequencies(const LlamaConfig& config);

}  // namespace slipstream
