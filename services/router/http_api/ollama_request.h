// Reads the bodies of POST /api/chat and /api/generate, Ollama's API. What they ask is a chat; how
// its answer is written is ollama_format.h.
#pragma once

#include <string_view>

#include "services/router/http_api/asked.h"

namespace slipstream {

ApiResult<Asked> read_ollama_chat(std::string_view body, const ServedModel& model);
ApiResult<Asked> read_ollama_generate(std::string_view body, const ServedModel& model);

// The name without the tag ":latest", which Ollama's clients add to names that have no tag.
std::string_view without_latest(std::string_view name);

}  // namespace slipstream
