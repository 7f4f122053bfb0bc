// The sizes and tensors of an EAGLE-3 style draft head (arXiv 2503.01840): one block of the Llama
// family that reads the target's features, and an output head over a part of its vocabulary.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/checkpoint/llama_config.h"
#include "tools/train/tensor_list.h"

namespace slipstream::train {

struct HeadConfig {
  LlamaConfig target;               // the head's block has its shape
  std::vector<int32_t> taps;        // layers of the target whose inputs are the features, ascending
  std::vector<TokenId> vocabulary;  // the target's ids of the output head's rows, ascending

  int64_t width() const { return static_cast<int64_t>(taps.size()) * target.hidden; }  // of a feature
};

// Layers 2, half, and all but three, as published heads have them.
std::vector<int32_t> default_taps(const LlamaConfig& target);

// What a shard has of a target: these taps (none given: default_taps()), and behind them what the
// final norm reads, from which the target's distributions are computed.
std::vector<int32_t> taps_with_final(const std::vector<int32_t>& taps, const LlamaConfig& target);

// The tensors that are trained, under the names of published heads.
std::vector<TensorSpec> head_tensors(const HeadConfig& config);

}  // namespace slipstream::train
