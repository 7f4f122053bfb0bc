#include "services/router/http_api/chat_request.h"

#include <limits>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/sampling/logprobs.h"
#include "services/router/http_api/bounded_json.h"
#include "services/router/http_api/generation_fields.h"
#include "services/router/http_api/message_fields.h"
#include "services/router/http_api/prompt_logprobs_fields.h"
#include "services/router/http_api/request_body.h"
#include "services/router/http_api/tool_fields.h"

namespace slipstream {
namespace {

ApiResult<void> read_logprobs(const RequestFields& fields, ChatRequest& request) {
  TRY(const auto asked, fields.boolean("logprobs"));
  TRY(const auto top, fields.integer("top_logprobs", 0, kTopLogprobsMax));
  if (asked.value_or(false)) {
    request.spec.top_logprobs = static_cast<int32_t>(top.value_or(0));
    request.tells_logprobs = true;
  } else if (top.value_or(0) > 0) {
    return std::unexpected(bad_field("top_logprobs", "`top_logprobs` goes with `logprobs`: true only."));
  }
  return {};
}

// What the template gets beside the messages.
ApiResult<void> read_extras(const RequestFields& fields, ChatRequest& request) {
  TRY(ToolFields tools, read_tools(fields));
  request.extras.tools = std::move(tools.tools);
  request.parallel_tool_calls = tools.parallel;
  request.must_call = tools.must_call;
  request.call_only = std::move(tools.name);
  TRY(const auto variables, fields.object("chat_template_kwargs"));
  const auto given = fields.find("chat_template_kwargs");
  if (given && !has_few_keys(*given)) {
    return std::unexpected(
        bad_field("chat_template_kwargs", fmt::format("an object in `chat_template_kwargs` has over {} keys.", kJsonKeysMax)));
  }
  if (variables) request.extras.variables = json_value(*given).dump();
  TRY(const auto splits, fields.boolean("separate_reasoning"));
  request.splits_reasoning = splits.value_or(true);
  TRY(const auto generate, fields.boolean("add_generation_prompt"));
  TRY(const auto continues, fields.boolean("continue_final_message"));
  request.extras.continue_final_message = continues.value_or(false);
  request.extras.add_generation_prompt = generate.value_or(!request.extras.continue_final_message);
  if (request.extras.continue_final_message && request.extras.add_generation_prompt) {
    return std::unexpected(bad_field("continue_final_message",
                                     "`continue_final_message` goes with `add_generation_prompt`: false: a message is "
                                     "continued, or a new one begins."));
  }
  return {};
}

// `echo` and `best_of` belong to completions.
ApiResult<void> refuse_echo(const RequestFields& fields, int choices) {
  TRY(const auto best_of, fields.integer("best_of", 0, std::numeric_limits<int32_t>::max()));
  if (best_of.value_or(0) > 1 && best_of != choices) {
    return std::unexpected(unsupported("best_of", "`best_of` goes with /v1/completions only."));
  }
  TRY(const auto echo, fields.boolean("echo"));
  if (!echo.value_or(false)) return {};
  return std::unexpected(unsupported("echo", "`echo` goes with /v1/completions only."));
}

}  // namespace

ApiResult<ChatRequest> parse_chat_request(std::string_view body, const Offer& offer) {
  TRY(const RequestBody json, RequestBody::parse(body));
  const RequestFields& fields = json.fields();
  ChatRequest request;
  TRY_VOID(read_generation(fields, offer, request));
  TRY(request.messages, read_messages(fields));
  TRY_VOID(read_extras(fields, request));
  TRY_VOID(read_logprobs(fields, request));
  TRY_VOID(read_prompt_logprobs(fields, request));
  TRY_VOID(refuse_echo(fields, request.choices));
  note_ignored(fields, request);
  return request;
}

}  // namespace slipstream
