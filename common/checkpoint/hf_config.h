// config.json and generation_config.json of a Hugging Face folder.
#pragma once

#include <filesystem>

#include "common/base/result.h"
#include "common/checkpoint/llama_config.h"

namespace slipstream {

inline constexpr size_t kConfigBytesMax = 4 * 1024 * 1024;

// generation_config.json's end ids win over config.json's.
Result<LlamaConfig> read_hf_config(const std::filesystem::path& folder);

}  // namespace slipstream
