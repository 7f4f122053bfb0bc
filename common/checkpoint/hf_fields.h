// The fields of config.json that a Llama model and a draft head of one have in common.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/checkpoint/json_file.h"
#include "common/checkpoint/llama_config.h"

namespace slipstream {

// The one architecture that "architectures" names.
Result<std::string> read_hf_architecture(const JsonFields& fields);
// Sizes and rotary settings; all else has its default.
Result<LlamaConfig> read_hf_shape(const JsonFields& fields);

}  // namespace slipstream
