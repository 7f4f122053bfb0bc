// Finds the tool whose schema is why the calls of a request have no grammar.
#pragma once

#include <optional>
#include <string_view>

#include "common/grammar/grammar_cache.h"
#include "services/router/http_api/api_error.h"

namespace slipstream {

// tools: a JSON list as ToolFields has it. only: the name of the one that is looked at; empty: all.
// The error names the first tool whose parameters are no schema that can be followed, and the place
// in them. nullopt: each of them can be followed by itself.
std::optional<ApiError> blamed_tool(std::string_view tools, std::string_view only, GrammarCache& grammars);

}  // namespace slipstream
