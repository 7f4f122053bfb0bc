// Hashes that say whether two processes hold the same model: XXH3-64 over file bytes.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/base/result.h"

namespace slipstream {

Result<uint64_t> hash_tokenizer(const std::filesystem::path& folder);  // of tokenizer.json; never 0
Result<uint64_t> hash_weights(const std::filesystem::path& folder);    // of all weight files, by file name; never 0

}  // namespace slipstream
