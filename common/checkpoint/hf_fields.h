// The fields of config.json that a Llama model and a draft head of one have in common.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/checkpoint/json_file.h"
#include "common/checkpoint/llama_config.h"

namespace slipstream {

// The one architecture that "architectures" names.
Result<std::string> read_hf_architecture(const JsonFields& fields);
// What a field stands for that is not there.
struct HfDefaults {
  int32_t head_size = 0;  // 0: hidden_size / num_attention_heads
  bool tied_embeddings = false;
  float rope_theta = 10000.0F;
};
// Sizes and rotary settings, those of full attention where kinds of layers differ; all else has its
// default.
Result<LlamaConfig> read_hf_shape(const JsonFields& fields, const HfDefaults& absent = {});

}  // namespace slipstream
