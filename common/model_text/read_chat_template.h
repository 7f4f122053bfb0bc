// The chat template of a model, wherever the model keeps it.
#pragma once

#include <filesystem>

#include "common/base/result.h"
#include "common/text/chat_template.h"

namespace slipstream {

// model: a folder with its files, or a GGUF file. Errors name the file.
Result<ChatTemplate> read_chat_template(const std::filesystem::path& model);

}  // namespace slipstream
