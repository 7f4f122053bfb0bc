// Parses and checks the body of POST /v1/completions, OpenAI's older form: a prompt without roles,
// which no template is put around.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/ids.h"
#include "services/router/http_api/api_error.h"
#include "services/router/http_api/generation_request.h"
#include "services/router/http_api/offer.h"

namespace slipstream {

inline constexpr int32_t kCompletionTokensDefault = 16;  // OpenAI's max_tokens of a completion that names none

using Prompt = std::variant<std::string, std::vector<TokenId>>;  // text, or tokens

struct CompletionRequest : GenerationRequest {
  std::vector<Prompt> prompts;  // at least one
  bool echo = false;            // the prompt's text comes before the answer's
};

ApiResult<CompletionRequest> parse_completion_request(std::string_view body, const Offer& offer);

}  // namespace slipstream
