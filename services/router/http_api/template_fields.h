// The fields of a chat that its template takes beside the messages: `tools`,
// `chat_template_kwargs`, `add_generation_prompt` and `continue_final_message`.
#pragma once

#include "common/text/chat_template.h"
#include "services/router/http_api/request_fields.h"
#include "services/router/http_api/tool_fields.h"

namespace slipstream {

struct TemplateFields {
  ChatExtras extras;
  ToolFields tools;  // without the list itself, which is in extras
};

// Errors name the field.
ApiResult<TemplateFields> read_template_fields(const RequestFields& body);

}  // namespace slipstream
