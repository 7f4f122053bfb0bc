// Reads a text file of a model's folder into memory.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.h"

namespace slipstream {

inline constexpr size_t kModelTextBytesMax = 64 * 1024 * 1024;  // tokenizer.json of a 256k vocabulary has about 33 MB

// Errors: not a regular file, over kModelTextBytesMax, or not readable.
Result<std::string> read_file(const std::filesystem::path& path);

}  // namespace slipstream
