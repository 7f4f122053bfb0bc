// Reads the bodies of POST /v1/messages, Anthropic's API, and of /v1/messages/count_tokens.
#pragma once

#include <string>
#include <string_view>

#include "services/router/http_api/asked.h"

namespace slipstream {

ApiResult<Asked> read_anthropic(std::string_view body, const ServedModel& model);

// The JSON that tells how many tokens the prompt of such a request has. context: tokens that a
// request may have.
ApiResult<std::string> count_anthropic(std::string_view body, const ServedModel& model, int32_t context);

}  // namespace slipstream
