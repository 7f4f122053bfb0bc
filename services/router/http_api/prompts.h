// The prompts of a request of any API, as tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "services/router/http_api/api_error.h"
#include "services/router/http_api/chat_request.h"
#include "services/router/http_api/completion_request.h"
#include "services/router/http_api/served_model.h"

namespace slipstream {

struct PromptTokens {
  std::vector<TokenId> tokens;
  std::string echo = {};  // the prompt as text, if the answer begins with it
};

// context: tokens that a request may have. Errors name the field.
ApiResult<std::vector<PromptTokens>> prompts_of(const ChatRequest& request, const ServedModel& model, int32_t context);
ApiResult<std::vector<PromptTokens>> prompts_of(const CompletionRequest& request, const ServedModel& model, int32_t context);

}  // namespace slipstream
