// What a drafter without weights needs of the target's model folder or GGUF file: which tokens it
// speaks of.
#pragma once

#include <filesystem>

#include "common/base/result.h"
#include "common/messages/common.h"

namespace slipstream {

// Tokenizer, vocabulary and special ids; weights 0. Errors name the file.
Result<Fingerprint> read_token_fingerprint(const std::filesystem::path& model);

}  // namespace slipstream
