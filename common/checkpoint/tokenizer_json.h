// Where the tokenizer of a model's Hugging Face folder is.
#pragma once

#include <filesystem>

#include "common/base/result.h"

namespace slipstream {

// tokenizer.json in the folder, whether it is there or not. An error if a tokenizer.model
// (SentencePiece) is there instead: it says how to make the other one of it.
Result<std::filesystem::path> tokenizer_json(const std::filesystem::path& folder);

}  // namespace slipstream
