// What a server is asked: ours, or a file's.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace slipstream::command::verify {

// Eight: prose, code, other scripts, and texts whose answers repeat them, so that look-up drafters
// find something.
std::vector<std::string> built_in_prompts();

// One prompt a line, blank lines skipped. A file whose first line begins with { or " is JSON lines:
// strings, or objects whose "prompt" (or "text") is one; a prompt of several lines can only be
// written so. Error: which line is wrong and why, or that there is no prompt.
Result<std::vector<std::string>> parse_prompts(std::string_view text);
Result<std::vector<std::string>> read_prompts(const std::filesystem::path& file);

}  // namespace slipstream::command::verify
