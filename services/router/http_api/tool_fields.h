// Reads `tools`, `tool_choice` and `parallel_tool_calls` of a chat request, and the calls and
// results of tools in its messages.
#pragma once

#include <string>
#include <vector>

#include "services/router/http_api/request_fields.h"

namespace slipstream {

struct ToolFields {
  std::string tools;                      // a JSON list, as templates take it; empty: none
  bool parallel = true;                   // an answer may call several
  bool must_call = false;                 // the answer is a call
  std::string name = {};                  // with must_call: of this tool; empty: of any
  std::vector<std::string> ignored = {};  // keys that nobody uses, with their path
};
ApiResult<ToolFields> read_tools(const RequestFields& body);

// The fields of a message beside role and content, as JSON for the template: of an assistant
// `reasoning_content`, and `tool_calls` with their arguments as objects; of a tool `tool_call_id`
// and `name`. Empty: none.
ApiResult<std::string> read_tool_message(const RequestFields& message, std::string_view role);

}  // namespace slipstream
