// Reads the configuration of a llama, qwen2 or qwen3 model from the metadata of a GGUF file.
#pragma once

#include "common/base/result.h"
#include "common/checkpoint/gguf/file.h"
#include "common/checkpoint/llama_config.h"

namespace slipstream {

// Errors name the file, the field and what is supported. A tensor that such a model does not have
// is an error too, because it would silently be left out of the computation.
Result<LlamaConfig> read_gguf_config(const GgufFile& file);

}  // namespace slipstream
