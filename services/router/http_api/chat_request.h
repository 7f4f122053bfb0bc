// Parses and checks the body of POST /v1/chat/completions.
#pragma once

#include <string_view>
#include <vector>

#include "common/text/chat_template.h"
#include "services/router/http_api/api_error.h"
#include "services/router/http_api/generation_request.h"
#include "services/router/http_api/offer.h"

namespace slipstream {

struct ChatRequest : GenerationRequest {
  std::vector<ChatMessage> messages;
  ChatExtras extras;
};

ApiResult<ChatRequest> parse_chat_request(std::string_view body, const Offer& offer);

}  // namespace slipstream
