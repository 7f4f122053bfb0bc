// The angles of rotary position embedding (RoPE), as a model's configuration describes them.
#pragma once

#include <vector>

#include "common/checkpoint/llama_config.h"

namespace slipstream {

// [head_size / 2] the angle per position by which pair i of a head's columns is rotated:
// theta^(-2i / head_size), then scaled as in the references of linear scaling, Llama 3.1 or YaRN if
// the model asks for it, then divided by rope_divisors[i] if it has some.
std::vector<float> rope_frequencies(const LlamaConfig& config);
// The same of local layers, where they have a theta of their own. REQUIRES: local_rope_theta > 0.
std::vector<float> local_rope_frequencies(const LlamaConfig& config);
// What sines and cosines are multiplied by: YaRN's attention factor, or 1.
float rope_factor(const LlamaConfig& config);

}  // namespace slipstream
