// Adds to a request what needs the model, beside the tokens of its prompt: the grammar that its
// answer follows, compiled once to see that it can be; what ends the answer; the tokens of bad
// words; how its reasoning begins.
//
//   TRY_VOID(choose_grammar(asked, model, tool_format));
//   const auto grammar = followed(asked, compile);  // where there is one to follow
//   TRY_VOID(fit(asked, prompts, model, grammar));
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "common/grammar/grammar_cache.h"
#include "services/router/http_api/api_error.h"
#include "services/router/http_api/asked.h"
#include "services/router/http_api/prompts.h"
#include "services/router/http_api/served_model.h"
#include "services/router/http_api/tool_calls.h"

namespace slipstream {

// The grammar that the answer must follow, as the request's text. Compiles nothing.
ApiResult<void> choose_grammar(Asked& asked, const ServedModel& model, ToolFormat format);

// nullopt: it is not known here whether the grammar can be followed.
using CompileText = std::function<std::optional<GrammarCache::Compiled>(const GrammarText&)>;
// The request's grammar, or the one that it has for the case that this cannot be followed. A
// grammar that cannot be compiled here can be compiled by no verifier. nullopt: `compile` does not
// know one.
std::optional<GrammarCache::Compiled> followed(GenerationRequest& request, const CompileText& compile);
// The answer to a request whose grammar cannot be followed. Of calls it names the tool, for which
// it may compile parts of its schema.
ApiError cannot_follow(Asked& asked, const GrammarError& why, GrammarCache& grammars);

// grammar: the request's; null: it has none. REQUIRES: prompts is not empty. An error names the
// chat's field that asks for what cannot be.
ApiResult<void> fit(Asked& asked, const std::vector<PromptTokens>& prompts, const ServedModel& model, const Grammar* grammar);

}  // namespace slipstream
