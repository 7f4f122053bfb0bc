// Reads the configuration of a model from config.json and generation_config.json of a Hugging Face
// folder.
#pragma once

#include <filesystem>

#include "common/base/result.h"
#include "common/checkpoint/llama_config.h"

namespace slipstream {

// The eos_ids come from generation_config.json if it has any, otherwise from config.json. Errors
// name the file, the field and what is supported.
Result<LlamaConfig> read_hf_config(const std::filesystem::path& folder);

}  // namespace slipstream
