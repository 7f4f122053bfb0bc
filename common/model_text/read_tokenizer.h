// The tokenizer of a model, wherever the model keeps it.
#pragma once

#include <filesystem>

#include "common/base/result.h"
#include "common/text/tokenizer.h"

namespace slipstream {

// model: a folder with tokenizer.json, or a GGUF file. Errors name the file.
Result<Tokenizer> read_tokenizer(const std::filesystem::path& model);

}  // namespace slipstream
