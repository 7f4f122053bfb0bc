// What requests ask for the logprobs of a prompt's tokens, and the bound.
//
// Two fields ask: `echo` with `logprobs` of OpenAI's completions, whose lists then begin with the
// prompt, and vLLM's `prompt_logprobs`, which has a list of its own in the answer.
#pragma once

#include <span>

#include "services/router/http_api/api_error.h"
#include "services/router/http_api/generation_request.h"
#include "services/router/http_api/prompts.h"
#include "services/router/http_api/request_fields.h"

namespace slipstream {

// Reads vLLM's field. Call it after `stream` and `logprobs` were read.
ApiResult<void> read_prompt_logprobs(const RequestFields& fields, GenerationRequest& request);

// An error if the prompts have more logprobs than kPromptLogprobsMax. It names the field that asks.
ApiResult<void> bound_prompt_logprobs(const GenerationRequest& request, std::span<const PromptTokens> prompts);

}  // namespace slipstream
