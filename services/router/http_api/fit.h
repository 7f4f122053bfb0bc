// Adds to a request what needs the model, beside the tokens of its prompt: the grammar that its
// answer follows, compiled once to see that it can be; what ends the answer; the tokens of bad
// words; how its reasoning begins.
#pragma once

#include <vector>

#include "common/grammar/grammar_cache.h"
#include "services/router/http_api/api_error.h"
#include "services/router/http_api/asked.h"
#include "services/router/http_api/prompts.h"
#include "services/router/http_api/served_model.h"
#include "services/router/http_api/tool_calls.h"

namespace slipstream {

// Whether fit() compiles a grammar for it, which may take a tenth of a second.
bool needs_grammar(const GenerationRequest& request);

struct FitTo {
  const ServedModel& model;
  ToolFormat tool_format;
  GrammarCache* grammars;  // null: nothing ends the model's answers, so it follows no grammar
};
// REQUIRES: prompts is not empty. An error names the chat's field that asks for what cannot be.
ApiResult<void> fit(Asked& asked, const std::vector<PromptTokens>& prompts, const FitTo& to);

}  // namespace slipstream
