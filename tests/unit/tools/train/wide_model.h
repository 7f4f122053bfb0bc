// A small model with the vocabulary of a real one: its losses are computed in more than one slice.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/randint.h>

#include "common/checkpoint/llama_config.h"

namespace slipstream::train {

inline constexpr int64_t kWideLength = 250;  // 2 * 250 rows take two slices
inline const LlamaConfig kWideConfig{.hidden = 8,
                                     .intermediate = 16,
                                     .layers = 1,
                                     .heads = 2,
                                     .kv_heads = 1,
                                     .head_size = 4,
                                     .vocabulary = 49152,
                                     .tied_embeddings = true};

// Of two sequences.
inline at::Tensor wide_tokens() { return at::randint(kWideConfig.vocabulary, {2, kWideLength + 1}, at::kLong); }

}  // namespace slipstream::train
