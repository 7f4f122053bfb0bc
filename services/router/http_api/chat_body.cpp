#include "services/router/http_api/chat_body.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/router/http_api/generation_fields.h"
#include "services/router/http_api/json_text.h"

namespace slipstream {
namespace {

// Fields of a chat that are no fields of another API, whatever their value.
constexpr std::array<std::string_view, 18> kChatsOwn{"add_generation_prompt",
                                                     "best_of",
                                                     "continue_final_message",
                                                     "echo",
                                                     "function_call",
                                                     "functions",
                                                     "logprobs",
                                                     "max_completion_tokens",
                                                     "max_tokens",
                                                     "messages",
                                                     "n",
                                                     "parallel_tool_calls",
                                                     "prompt_logprobs",
                                                     "response_format",
                                                     "stream_options",
                                                     "tool_choice",
                                                     "tools",
                                                     "top_logprobs"};

}  // namespace

std::string as_json(std::string_view text) { return dump(text); }

JsonObject& JsonObject::add(std::string_view name, std::string_view json) {
  text_ += fmt::format("{}{}:{}", text_.empty() ? '{' : ',', as_json(name), json);
  return *this;
}

JsonObject& JsonObject::add_if(std::string_view name, const std::optional<std::string>& json) {
  return json ? add(name, *json) : *this;
}

std::string json_list(const std::vector<std::string>& parts) { return fmt::format("[{}]", fmt::join(parts, ",")); }

std::optional<std::string> raw(const RequestFields& fields, std::string_view name) {
  const auto value = fields.find(name);
  return value ? std::optional(simdjson::minify(*value)) : std::nullopt;
}

ChatBody::Turn& ChatBody::turn(std::string role, std::string own) {
  turns_.push_back({.role = std::move(role)});
  names.add(newest(), std::move(own));
  return turns_.back();
}

ChatBody::Turn& ChatBody::assistant(std::string own) {
  return !turns_.empty() && turns_.back().role == "assistant" ? turns_.back() : turn("assistant", std::move(own));
}

std::string ChatBody::newest() const { return fmt::format("messages[{}]", turns_.size() - 1); }

void ChatBody::call(const RequestFields& from, std::string_view id, std::string_view arguments, std::string own) {
  JsonObject function;
  function.add_if("name", raw(from, "name")).add_if("arguments", raw(from, arguments));
  JsonObject call;
  call.add("type", R"("function")").add_if("id", raw(from, id)).add("function", function.text());
  const std::string chats = fmt::format("{}.tool_calls[{}]", newest(), turns_.back().calls.size());
  names.add(chats + ".function.arguments", fmt::format("{}.{}", own, arguments));
  names.add(chats + ".function", own);
  names.add(chats, std::move(own));
  turns_.back().calls.push_back(call.text());
}

void ChatBody::add(std::string_view chats, std::string_view own) {
  if (const auto json = raw(fields_, own)) add_json(chats, *json, own);
}

void ChatBody::add_json(std::string_view chats, std::string_view json, std::string_view own) {
  body_.add(chats, json);
  names.add(std::string(chats), std::string(own));
}

ApiResult<void> ChatBody::add_format(const RequestFields& fields, std::string_view field) {
  TRY(const auto format, fields.object(field));
  if (!format) return {};
  TRY(const auto type, format->text("type"));
  JsonObject written, schema;
  written.add_if("type", raw(*format, "type"));
  for (const auto& part : format->object()) {
    if (part.key != "type") schema.add(part.key, simdjson::minify(part.value));
  }
  if (type == "json_schema") {
    written.add("json_schema", schema.text());
  } else {
    ignore_unread(*format);
  }
  names.add("response_format.json_schema", fields.name(field));
  add_json("response_format", written.text(), fields.name(field));
  return {};
}

void ChatBody::think(bool first, std::string_view own) {
  if (fields_.object().at_key("chat_template_kwargs").error() == simdjson::SUCCESS) return;
  add_json("chat_template_kwargs", first ? R"({"enable_thinking":true})" : R"({"enable_thinking":false})", own);
}

std::string ChatBody::messages() const {
  std::vector<std::string> written;
  for (const Turn& turn : turns_) {
    JsonObject message;
    message.add("role", as_json(turn.role)).add_if("content", turn.content);
    message.add_if("reasoning_content", turn.reasoning).add_if("tool_call_id", turn.call_id);
    if (!turn.calls.empty()) message.add("tool_calls", json_list(turn.calls));
    written.push_back(message.text());
  }
  return json_list(written);
}

ApiResult<ChatRequest> ChatBody::parse(const Offer& offer) {
  for (const auto& field : fields_.object()) {
    if (fields_.has_read(field.key)) continue;
    if (std::ranges::find(kChatsOwn, field.key) == kChatsOwn.end()) {
      body_.add(field.key, simdjson::minify(field.value));
    } else if (!field.value.is_null()) {
      ignore(field.key);
    }
  }
  body_.add("messages", messages());
  auto request = parse_chat_request(body_.text(), offer);
  if (!request) return std::unexpected(names.renamed(request.error()));
  for (std::string& field : request->ignored) field = names.own(field);
  request->ignored.insert(request->ignored.end(), ignored_.begin(), ignored_.end());
  request->warnings.insert(request->warnings.end(), warnings_.begin(), warnings_.end());
  return request;
}

}  // namespace slipstream
