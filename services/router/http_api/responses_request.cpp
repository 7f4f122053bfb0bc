#include "services/router/http_api/responses_request.h"

#include <utility>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/sampling/logprobs.h"
#include "services/router/http_api/bounded_json.h"
#include "services/router/http_api/chat_body.h"
#include "services/router/http_api/generation_fields.h"
#include "services/router/http_api/request_body.h"
#include "services/router/http_api/responses_format.h"

namespace slipstream {
namespace {

using Json = nlohmann::ordered_json;
using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr size_t kMetadataMost = 16;  // pairs, as OpenAI has it

// Fields that need what this server does not keep, and their values that ask for nothing.
ApiResult<void> refuse_stored(const RequestFields& fields) {
  for (const std::string_view name : {"previous_response_id", "conversation", "prompt"}) {
    if (!fields.find(name)) continue;
    return std::unexpected(unsupported(
        std::string(name),
        fmt::format("`{}` is not built: nothing is stored here between requests. Send what came before in `input`.", name)));
  }
  TRY(const auto background, fields.boolean("background"));
  if (background.value_or(false)) {
    return std::unexpected(unsupported("background", "`background` is not built: wait for the answer, or stream it."));
  }
  TRY(const auto truncation, fields.text("truncation"));
  if (truncation.value_or("disabled") != "disabled") {
    return std::unexpected(
        unsupported("truncation", "`truncation` must be \"disabled\": nothing of `input` is left out to make it fit."));
  }
  return {};
}

// A part of a message: {"type": "input_text" or "output_text", "text"}. The chat's reader refuses
// other types.
std::string text_part(element part, const std::string& path, ChatBody& chat) {
  object fields;
  if (part.get(fields) != simdjson::SUCCESS) return simdjson::minify(part);
  const auto type = member_text(fields, "type");
  const bool is_text = type == "input_text" || type == "output_text" || type == "reasoning_text" || type == "summary_text";
  if (!is_text) return simdjson::minify(part);
  const RequestFields text(fields, path + ".");
  std::string written = JsonObject().add("type", R"("text")").add_if("text", raw(text, "text")).text();
  for (const std::string_view told : {"type", "annotations", "logprobs"}) text.find(told);  // of an answer that is sent back
  chat.ignore_unread_of_piece(text);
  return written;
}

std::optional<std::string> content_of(const RequestFields& item, std::string_view name, ChatBody& chat) {
  const auto content = item.find(name);
  array parts;
  if (!content || content->get(parts) != simdjson::SUCCESS) return raw(item, name);
  std::vector<std::string> written;
  for (element part : parts) written.push_back(text_part(part, fmt::format("{}[{}]", item.name(name), written.size()), chat));
  return json_list(written);
}

// What the model thought before it answered, as a response has it: {"content": [{"text"}, ...]}.
// Without content it is encrypted or was left out, and says nothing.
ApiResult<void> add_reasoning(const RequestFields& item, const std::string& path, ChatBody& chat) {
  const auto content = item.find("content");
  array parts;
  if (!content) return {};
  if (content->get(parts) != simdjson::SUCCESS) {
    return std::unexpected(bad_field(path + ".content", fmt::format("`{0}.content` must be a list of parts.", path)));
  }
  std::string thought;
  for (element part : parts) {
    object fields;
    if (part.get(fields) == simdjson::SUCCESS) thought += member_text(fields, "text").value_or("");
  }
  if (!thought.empty()) chat.turn("assistant", path).reasoning = as_json(thought);
  return {};
}

// Adds an item of `input` to the messages of the chat.
ApiResult<void> add_item(element given, const std::string& path, ChatBody& chat) {
  object item_object;
  if (given.get(item_object) != simdjson::SUCCESS) {
    return std::unexpected(bad_field(path, fmt::format("`{}` must be an object; it is {}.", path, kind_of(given))));
  }
  const RequestFields item(item_object, path + ".");
  TRY(const auto type, item.text("type"));
  const std::string_view kind = type.value_or("message");
  if (kind == "message") {
    TRY(const auto role, item.text("role"));
    const bool answers = role == "assistant";
    ChatBody::Turn& turn = answers ? chat.assistant(path) : chat.turn(std::string(role.value_or("")), path);
    if (turn.content) {  // a second text of the assistant is a message of its own
      chat.turn("assistant", path).content = content_of(item, "content", chat);
    } else {
      turn.content = content_of(item, "content", chat);
      chat.names.add(chat.newest() + ".content", path + ".content");
    }
  } else if (kind == "function_call") {
    chat.assistant(path);
    chat.call(item, "call_id", "arguments", path);
  } else if (kind == "function_call_output") {
    ChatBody::Turn& turn = chat.turn("tool", path);
    turn.content = content_of(item, "output", chat);
    turn.call_id = raw(item, "call_id");
    chat.names.add(chat.newest() + ".content", path + ".output");
    chat.names.add(chat.newest() + ".tool_call_id", path + ".call_id");
  } else if (kind == "reasoning") {
    TRY_VOID(add_reasoning(item, path, chat));
  } else {
    return std::unexpected(unsupported(
        path + ".type",
        fmt::format("`{}.type` is \"{}\": an item must be a message, function_call, function_call_output or reasoning.", path,
                    kind)));
  }
  for (const std::string_view told : {"id", "status"}) item.find(told);  // of an answer that is sent back
  if (kind == "reasoning")
    for (const std::string_view told : {"summary", "encrypted_content"}) item.find(told);
  chat.ignore_unread_of_piece(item);
  return {};
}

ApiResult<void> read_input(const RequestFields& fields, ChatBody& chat) {
  chat.names.add("messages", "input");
  TRY(const auto instructions, fields.text("instructions"));
  if (instructions) chat.turn("system", "instructions").content = as_json(*instructions);
  const auto input = fields.find("input");
  std::string_view text;
  if (input && input->get(text) == simdjson::SUCCESS) {
    chat.turn("user", "input").content = as_json(text);
    return {};
  }
  array items;
  const bool is_list = input && input->get(items) == simdjson::SUCCESS;
  if (!is_list || items.size() == 0) {
    const std::string is = !input ? "missing" : is_list ? "empty" : kind_of(*input);
    return std::unexpected(bad_field("input", fmt::format("`input` must be a string or a list of items; it is {}.", is)));
  }
  if (items.size() > kMessagesMax) return std::unexpected(too_many("input", "items", items.size(), kMessagesMax));
  size_t index = 0;
  for (element item : items) TRY_VOID(add_item(item, fmt::format("input[{}]", index++), chat));
  return {};
}

// {"type": "function", "name", ...}, where a chat has {"type": "function", "function": {"name"}}.
std::string nested(element given) {
  object flat;
  if (given.get(flat) != simdjson::SUCCESS) return simdjson::minify(given);
  JsonObject function, tool;
  for (const auto& field : flat) (field.key == "type" ? tool : function).add(field.key, simdjson::minify(field.value));
  return tool.add("function", function.text()).text();
}

ApiResult<void> read_tools(const RequestFields& fields, ChatBody& chat) {
  const auto tools = fields.find("tools");
  array list;
  if (tools && tools->get(list) == simdjson::SUCCESS && list.size() <= kToolsMax) {
    std::vector<std::string> written;
    for (element tool : list) {
      chat.names.add(fmt::format("tools[{}].function", written.size()), fmt::format("tools[{}]", written.size()));
      written.push_back(nested(tool));
    }
    chat.add_json("tools", json_list(written), "tools");
  } else {
    chat.add("tools", "tools");
  }
  const auto choice = fields.find("tool_choice");
  chat.names.add("tool_choice.function", "tool_choice");
  if (choice) chat.add_json("tool_choice", choice->is_object() ? nested(*choice) : simdjson::minify(*choice), "tool_choice");
  chat.add("parallel_tool_calls", "parallel_tool_calls");
  return {};
}

// `text`: {"format": {"type": "json_schema", "name", "schema", ...}, "verbosity"}.
ApiResult<void> read_text(const RequestFields& fields, ChatBody& chat) {
  TRY(const auto text, fields.object("text"));
  if (!text) return {};
  TRY_VOID(chat.add_format(*text, "format"));
  chat.ignore_unread(*text);  // such as `verbosity`
  return {};
}

// `reasoning`: {"effort", "summary"}. A template knows at most whether to think.
ApiResult<void> read_reasoning(const RequestFields& fields, ChatBody& chat) {
  TRY(const auto reasoning, fields.object("reasoning"));
  if (!reasoning) return {};
  TRY(const auto effort, reasoning->text("effort"));
  if (effort == "none") {
    chat.think(false, "reasoning");
  } else if (effort) {
    chat.ignore("reasoning.effort");
  }
  chat.ignore_unread(*reasoning);  // such as `summary`
  return {};
}

// Whether `include` asks for the logprobs of the text.
ApiResult<bool> read_include(const RequestFields& fields, ChatBody& chat) {
  bool logprobs = false;
  if (const auto include = fields.find("include")) {
    array list;
    if (include->get(list) != simdjson::SUCCESS) {
      return std::unexpected(bad_field("include", fmt::format("`include` must be a list; it is {}.", kind_of(*include))));
    }
    for (element one : list) {
      std::string_view what;
      if (one.get(what) == simdjson::SUCCESS && what == "message.output_text.logprobs") {
        logprobs = true;
      } else if (what == "reasoning.encrypted_content") {
        chat.ignore("include");
      } else {
        return std::unexpected(unsupported("include",
                                           "`include` takes message.output_text.logprobs, and reasoning.encrypted_content, "
                                           "which is ignored."));
      }
    }
  }
  TRY(const auto top, fields.integer("top_logprobs", 0, kTopLogprobsMax));
  if (!logprobs && top.value_or(0) > 0) {
    return std::unexpected(
        bad_field("top_logprobs", "`top_logprobs` goes with `include`: [\"message.output_text.logprobs\"] only."));
  }
  if (logprobs) chat.add_json("logprobs", "true", "include");
  chat.add("top_logprobs", "top_logprobs");
  return logprobs;
}

// What a response repeats has few keys, because building an object takes time that grows with their
// square.
ApiResult<void> check_repeated(const RequestFields& fields) {
  TRY(const auto metadata, fields.object("metadata"));
  if (metadata && metadata->object().size() > kMetadataMost) {
    return std::unexpected(too_many("metadata", "pairs", metadata->object().size(), kMetadataMost));
  }
  for (const std::string_view name : {"metadata", "text", "tool_choice", "tools"}) {
    const auto value = fields.find(name);
    if (!value || has_few_keys(*value)) continue;
    return std::unexpected(
        bad_field(std::string(name), fmt::format("an object in `{}` has over {} keys.", name, kJsonKeysMax)));
  }
  return {};
}

Json said(const RequestFields& fields, std::string_view name, Json otherwise) {
  const auto given = fields.find(name);
  return given ? json_value(*given) : std::move(otherwise);
}

// What a response repeats of its request, as it was read.
Json said_back(const RequestFields& fields, const ChatRequest& request) {
  const SamplingParams& sampling = request.spec.sampling;
  return {{"instructions", said(fields, "instructions", nullptr)},
          {"max_output_tokens", said(fields, "max_output_tokens", nullptr)},
          {"metadata", said(fields, "metadata", Json::object())},
          {"parallel_tool_calls", request.parallel_tool_calls},
          {"reasoning", {{"effort", nullptr}, {"summary", nullptr}}},
          {"temperature", sampling.temperature},
          {"text", said(fields, "text", {{"format", {{"type", "text"}}}})},
          {"tool_choice", said(fields, "tool_choice", "auto")},
          {"tools", said(fields, "tools", Json::array())},
          {"top_logprobs", said(fields, "top_logprobs", 0)},
          {"top_p", sampling.top_p}};
}

}  // namespace

ApiResult<Asked> read_responses(std::string_view body, const ServedModel& model) {
  TRY(const RequestBody json, RequestBody::parse(body));
  const RequestFields& fields = json.fields();
  ChatBody chat(fields);
  TRY_VOID(refuse_stored(fields));
  TRY_VOID(read_input(fields, chat));
  TRY_VOID(read_tools(fields, chat));
  TRY_VOID(read_text(fields, chat));
  TRY_VOID(read_reasoning(fields, chat));
  TRY(const bool logprobs, read_include(fields, chat));
  TRY_VOID(check_repeated(fields));
  chat.add("max_tokens", "max_output_tokens");
  TRY(const auto store, fields.boolean("store"));
  if (store.value_or(false)) chat.warn("`store`: nothing is stored here, so this response cannot be asked for again.");
  TRY(const auto options, fields.object("stream_options"));
  if (options) options->find("include_obfuscation");  // never in a stream here
  if (options) chat.ignore_unread(*options);
  TRY(ChatRequest request, chat.parse(model.offer));
  request.tells_text_logprobs = std::exchange(request.tells_logprobs, false) && logprobs;
  Json repeated = said_back(fields, request);
  return Asked{.request = std::move(request),
               .format = [repeated = std::move(repeated)](
                             AnswerHead head) { return std::make_unique<ResponsesFormat>(std::move(head), repeated); },
               .names = std::move(chat.names)};
}

}  // namespace slipstream
