// Reads the fingerprint of the target's tokens. A drafter compares it with the fingerprints of its
// verifiers.
#pragma once

#include <filesystem>

#include "common/base/result.h"
#include "common/messages/common.h"

namespace slipstream {

// Reads a model folder or a GGUF file: tokenizer, vocabulary and eos_ids, but no weights, whose
// hash is left at 0. Errors name the file.
Result<Fingerprint> read_token_fingerprint(const std::filesystem::path& model);

}  // namespace slipstream
