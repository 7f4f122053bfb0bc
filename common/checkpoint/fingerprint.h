// Hashes that say whether two processes hold the same model: XXH3-64 over file bytes and settings.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/base/result.h"
#include "common/checkpoint/hf_config.h"

namespace slipstream {

Result<uint64_t> hash_tokenizer(const std::filesystem::path& folder);  // of tokenizer.json; never 0
// Of all weight files, by file name, then of what the config makes of them: all that changes a logit, so neither the length of
// the context nor the end ids. Never 0.
Result<uint64_t> hash_weights(const std::filesystem::path& folder, const LlamaConfig& config);

}  // namespace slipstream
