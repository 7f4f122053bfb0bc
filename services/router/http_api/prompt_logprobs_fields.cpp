#include "services/router/http_api/prompt_logprobs_fields.h"

#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/sampling/logprobs.h"

namespace slipstream {

ApiResult<void> read_prompt_logprobs(const RequestFields& fields, GenerationRequest& request) {
  TRY(const auto top, fields.integer("prompt_logprobs", 0, kTopLogprobsMax));
  if (!top) return {};
  if (request.stream) {
    return std::unexpected(bad_field("prompt_logprobs", "`prompt_logprobs` goes with `stream`: false only."));
  }
  const auto alternatives = static_cast<int32_t>(*top);
  if (request.lists_prompt && request.spec.prompt_logprobs != alternatives) {
    return std::unexpected(bad_field(
        "prompt_logprobs", fmt::format("`echo` asks for {} alternatives beside each token of the prompt (`logprobs`), "
                                       "and `prompt_logprobs` for {}. Send one number.",
                                       *request.spec.prompt_logprobs, alternatives)));
  }
  request.spec.prompt_logprobs = alternatives;
  request.tells_prompt_logprobs = true;
  return {};
}

ApiResult<void> bound_prompt_logprobs(const GenerationRequest& request, std::span<const PromptTokens> prompts) {
  int64_t logprobs = 0, tokens = 0;
  for (const PromptTokens& prompt : prompts) {
    const auto size = static_cast<int64_t>(prompt.tokens.size());
    tokens += size * request.choices;
    logprobs += request.spec.prompt_logprobs_of(size) * request.choices;
  }
  if (logprobs <= kPromptLogprobsMax) return {};
  const std::string field = request.lists_prompt ? "logprobs" : "prompt_logprobs";
  return std::unexpected(bad_field(
      field, fmt::format("`{}` asks for {} logprobs of prompts ({} tokens of all prompts and choices, each with {} "
                         "alternatives); the limit is {}. Ask for fewer alternatives, or send fewer or shorter prompts.",
                         field, logprobs, tokens, *request.spec.prompt_logprobs, kPromptLogprobsMax)));
}

}  // namespace slipstream
