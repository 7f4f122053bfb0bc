// The grammar of an answer that must call a tool (`tool_choice` "required", or one by name).
#pragma once

#include <string>
#include <string_view>

#include "common/base/grammar_text.h"
#include "services/router/http_api/api_error.h"
#include "services/router/http_api/tool_calls.h"

namespace slipstream {

// tools: a JSON list as ToolFields has it. name: the only one that may be called; empty: any.
// parallel: several calls may follow each other. An error: no tool has that name, or the form of
// calls is not known.
ApiResult<GrammarText> tool_grammar(ToolFormat format, std::string_view tools, std::string_view name, bool parallel);

}  // namespace slipstream
