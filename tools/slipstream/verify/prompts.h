// The prompts that verify-lossless sends: the built-in ones, or those of a file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace slipstream::command::verify {

// Eight prompts: prose, code, other scripts, and texts whose answers repeat them, so that look-up
// drafters find matches.
std::vector<std::string> built_in_prompts();

// Reads one prompt a line and skips blank lines. A file whose first line begins with { or " is read
// as JSON lines: each is a string, or an object whose "prompt" (or "text") is a string; only this
// form can hold a prompt of several lines. Error: which line is wrong and why, or that there is no
// prompt.
Result<std::vector<std::string>> parse_prompts(std::string_view text);
Result<std::vector<std::string>> read_prompts(const std::filesystem::path& file);

}  // namespace slipstream::command::verify
