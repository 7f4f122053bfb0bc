#include "services/router/http_api/completion_request.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/sampling/logprobs.h"
#include "services/router/http_api/generation_fields.h"
#include "services/router/http_api/prompt_logprobs_fields.h"
#include "services/router/http_api/request_body.h"

namespace slipstream {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;

constexpr std::string_view kPromptForms = "a string, a list of token ids, or a list of these";

ApiResult<Prompt> read_prompt(element given, const std::string& path) {
  std::string_view text;
  if (given.get(text) == simdjson::SUCCESS) return std::string(text);
  array list;
  if (given.get(list) == simdjson::SUCCESS) return read_token_ids(list, path);
  return std::unexpected(bad_field(path, fmt::format("`{}` must be {}; it is {}.", path, kPromptForms, kind_of(given))));
}

// A list of integers is one prompt, any other list is one of prompts.
ApiResult<std::vector<Prompt>> read_prompts(const RequestFields& fields) {
  const auto given = fields.find("prompt");
  if (!given) return std::unexpected(bad_field("prompt", fmt::format("`prompt` must be {}; it is missing.", kPromptForms)));
  array list;
  const bool is_list = given->get(list) == simdjson::SUCCESS;
  if (is_list && list.size() == 0) {
    return std::unexpected(bad_field("prompt", fmt::format("`prompt` must be {}; it is empty.", kPromptForms)));
  }
  if (!is_list || list.at(0).is<int64_t>()) {
    TRY(auto prompt, read_prompt(*given, "prompt"));
    return std::vector{std::move(prompt)};
  }
  if (list.size() > kPromptsMax) {
    return std::unexpected(too_many("prompt", "prompts", list.size(), kPromptsMax));
  }
  std::vector<Prompt> prompts;
  for (element one : list) {
    TRY(auto prompt, read_prompt(one, fmt::format("prompt[{}]", prompts.size())));
    prompts.push_back(std::move(prompt));
  }
  return prompts;
}

// `logprobs` is how many alternatives are told; a request that wants none leaves it out. With
// `echo` it wants those of the prompt, too.
ApiResult<void> read_logprobs(const RequestFields& fields, CompletionRequest& request) {
  TRY(const auto top, fields.integer("logprobs", 0, kTopLogprobsMax));
  TRY(const auto echo, fields.boolean("echo"));
  request.echo = echo.value_or(false);
  if (!top) return {};
  request.spec.top_logprobs = static_cast<int32_t>(*top);
  request.tells_logprobs = true;
  request.lists_prompt = request.echo;
  if (request.echo) request.spec.prompt_logprobs = request.spec.top_logprobs;
  return {};
}

// Of `best_of` choices the `n` are told whose tokens are the likeliest.
ApiResult<void> read_best_of(const RequestFields& fields, CompletionRequest& request) {
  TRY(const auto best_of, fields.integer("best_of", 1, kChoicesMax));
  if (!best_of || *best_of == request.choices) return {};
  if (*best_of < request.choices) {
    return std::unexpected(bad_field("best_of", fmt::format("`best_of` is {}, less than `n`: {}.", *best_of, request.choices)));
  }
  if (request.stream) {
    return std::unexpected(
        bad_field("best_of", "`best_of` above `n` goes with `stream`: false only: the best is known at the end."));
  }
  request.best = std::exchange(request.choices, static_cast<int>(*best_of));
  if (!request.spec.top_logprobs) request.spec.top_logprobs = 0;
  return {};
}

// OpenAI's default, or as many tokens as the request demands. A pass samples a token after every
// prompt: one that is scored alone gets it as well, and does not tell it.
int32_t output_max_of(const CompletionRequest& request) {
  if (request.scores_only) return 1;
  if (request.spec.output_max > 0) return request.spec.output_max;
  return std::max(kCompletionTokensDefault, request.spec.logits_params.min_tokens);
}

}  // namespace

ApiResult<CompletionRequest> parse_completion_request(std::string_view body, const Offer& offer) {
  TRY(const RequestBody json, RequestBody::parse(body));
  const RequestFields& fields = json.fields();
  CompletionRequest request;
  request.output_least = 0;
  TRY_VOID(read_generation(fields, offer, request));
  request.spec.output_max = output_max_of(request);
  TRY(request.prompts, read_prompts(fields));
  TRY_VOID(read_logprobs(fields, request));
  TRY_VOID(read_prompt_logprobs(fields, request));
  TRY_VOID(read_best_of(fields, request));
  note_ignored(fields, request);
  return request;
}

}  // namespace slipstream
