// The configuration of a llama, qwen2 or qwen3 model out of a GGUF file's metadata.
#pragma once

#include "common/base/result.h"
#include "common/checkpoint/gguf/file.h"
#include "common/checkpoint/llama_config.h"

namespace slipstream {

// Errors name the file, the field and what is supported. A tensor that such a model does not have
// is an error too: it would be left out of the computation in silence.
Result<LlamaConfig> read_gguf_config(const GgufFile& file);

}  // namespace slipstream
