#include "services/router/http_api/chat_request.h"

#include <limits>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/sampling/logprobs.h"
#include "services/router/http_api/generation_fields.h"
#include "services/router/http_api/message_fields.h"
#include "services/router/http_api/prompt_logprobs_fields.h"
#include "services/router/http_api/request_body.h"
#include "services/router/http_api/template_fields.h"

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
  TRY(TemplateFields read, read_template_fields(fields));
  request.extras = std::move(read.extras);
  request.ignored.insert(request.ignored.end(), read.tools.ignored.begin(), read.tools.ignored.end());
  request.parallel_tool_calls = read.tools.parallel;
  request.must_call = read.tools.must_call;
  request.call_only = std::move(read.tools.name);
  TRY(const auto splits, fields.boolean("separate_reasoning"));
  request.splits_reasoning = splits.value_or(true);
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
  TRY(request.messages, read_messages(fields, request.ignored));
  TRY_VOID(read_extras(fields, request));
  TRY_VOID(read_logprobs(fields, request));
  TRY_VOID(read_prompt_logprobs(fields, request));
  TRY_VOID(refuse_echo(fields, request.choices));
  note_ignored(fields, request);
  return request;
}

}  // namespace slipstream
