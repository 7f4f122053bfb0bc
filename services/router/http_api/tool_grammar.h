// The grammar of an answer that calls tools.
#pragma once

#include <string>
#include <string_view>

#include "common/base/grammar_text.h"
#include "services/router/http_api/api_error.h"
#include "services/router/http_api/generation_request.h"
#include "services/router/http_api/tool_calls.h"

namespace slipstream {

// What an answer may be.
struct CallForms {
  ToolFormat format = ToolFormat::none;
  std::string_view tools;        // a JSON list as ToolFields has it
  std::string_view name = {};    // the only one that may be called, once; empty: any
  bool parallel = true;          // several calls may follow each other
  std::string_view schema = {};  // or, in place of calls, a document of this JSON schema; empty: calls alone
};
// An error: no tool has that name, or the form of calls is not known.
ApiResult<GrammarText> tool_grammar(const CallForms& forms);

// Gives a request with tools the grammar that its answer follows:
// - one that must be a call (`tool_choice` "required", or one by name) follows the grammar of
//   calls. `response_format` is about the text of an answer, of which there is none.
// - one that may be a call and has a `response_format` is one or the other. If the calls cannot be
//   put into a grammar, it is a document, and a warning says so; if they can be, the document's
//   grammar is kept beside it.
// tools: as above.
ApiResult<void> add_calls(GenerationRequest& request, ToolFormat format, std::string_view tools);
// The tools of such a request cannot be followed: the answer is a document.
void leave_out_tools(GenerationRequest& request);

}  // namespace slipstream
