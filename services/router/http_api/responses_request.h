// Reads the body of POST /v1/responses, OpenAI's newer API: `input` is a text or a list of items
// (messages, calls of tools, their results), and nothing is stored between requests.
#pragma once

#include <string_view>

#include "services/router/http_api/asked.h"

namespace slipstream {

ApiResult<Asked> read_responses(std::string_view body, const ServedModel& model);

}  // namespace slipstream
