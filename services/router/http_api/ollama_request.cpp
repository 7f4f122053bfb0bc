#include "services/router/http_api/ollama_request.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "services/router/http_api/chat_body.h"
#include "services/router/http_api/message_fields.h"
#include "services/router/http_api/ollama_format.h"
#include "services/router/http_api/ollama_models.h"
#include "services/router/http_api/request_body.h"

namespace slipstream {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// An option, and the field of a chat that it is.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kOptions{{{"temperature", "temperature"},
                                                                                 {"top_p", "top_p"},
                                                                                 {"top_k", "top_k"},
                                                                                 {"min_p", "min_p"},
                                                                                 {"seed", "seed"},
                                                                                 {"stop", "stop"},
                                                                                 {"repeat_penalty", "repetition_penalty"},
                                                                                 {"presence_penalty", "presence_penalty"},
                                                                                 {"frequency_penalty", "frequency_penalty"}}};

// -1 and -2 mean what the context leaves.
ApiResult<void> read_num_predict(const RequestFields& options, ChatBody& chat) {
  TRY(const auto most, options.integer("num_predict", -2, kContextTokensMax));
  if (!most || *most < 0) return {};
  if (*most == 0) return std::unexpected(bad_field("options.num_predict", "`options.num_predict` must not be 0."));
  chat.add_json("max_tokens", fmt::to_string(*most), "options.num_predict");
  return {};
}

ApiResult<void> read_options(const RequestFields& fields, ChatBody& chat) {
  TRY(const auto options, fields.object("options"));
  if (!options) return {};
  for (const auto& [own, chats] : kOptions) {
    if (const auto json = raw(*options, own)) chat.add_json(chats, *json, options->name(own));
  }
  TRY_VOID(read_num_predict(*options, chat));
  chat.ignore_unread(*options);
  return {};
}

ApiResult<void> refuse(const RequestFields& fields, std::string_view name, std::string_view why) {
  const auto given = fields.find(name);
  std::string_view text;
  array list;
  bool flag = true;
  if (!given || (given->get(text) == simdjson::SUCCESS && text.empty())) return {};
  if (given->get(list) == simdjson::SUCCESS && list.size() == 0) return {};
  if (given->get(flag) == simdjson::SUCCESS && !flag) return {};
  return std::unexpected(unsupported(fields.name(name), fmt::format("`{}` {}", fields.name(name), why)));
}

// "json", or a schema that the answer follows.
ApiResult<void> read_format(const RequestFields& fields, ChatBody& chat) {
  const auto format = fields.find("format");
  std::string_view text;
  object schema;
  if (!format || (format->get(text) == simdjson::SUCCESS && text.empty())) return {};
  if (text == "json") {
    chat.add_json("response_format", R"({"type":"json_object"})", "format");
  } else if (format->get(schema) == simdjson::SUCCESS) {
    JsonObject named;
    named.add("name", R"("answer")").add("schema", simdjson::minify(schema));
    chat.add_json("response_format", JsonObject().add("type", R"("json_schema")").add("json_schema", named.text()).text(),
                  "format");
  } else {
    return std::unexpected(
        bad_field("format", fmt::format("`format` must be \"json\" or a JSON schema; it is {}.", kind_of(*format))));
  }
  return {};
}

// A boolean, or how much: "low", "medium" or "high".
ApiResult<void> read_think(const RequestFields& fields, ChatBody& chat) {
  const auto think = fields.find("think");
  if (!think) return {};
  bool flag = true;
  std::string_view level;
  if (think->get(flag) != simdjson::SUCCESS && think->get(level) != simdjson::SUCCESS) {
    return std::unexpected(bad_field("think", fmt::format("`think` must be true or false; it is {}.", kind_of(*think))));
  }
  chat.think(flag, "think");
  return {};
}

// What chats and generations have in common. Answers are streams unless `stream` is false.
ApiResult<void> read_common(const RequestFields& fields, const Offer& offer, ChatBody& chat) {
  TRY_VOID(read_options(fields, chat));
  TRY_VOID(read_format(fields, chat));
  TRY_VOID(read_think(fields, chat));
  fields.find("keep_alive");  // models stay loaded here
  TRY(const auto name, fields.text("model"));
  if (!name) return std::unexpected(bad_field("model", "`model` is missing."));
  const std::string_view bare = without_latest(*name);
  chat.add_json("model", as_json(!offer.takes(*name) && offer.takes(bare) ? bare : *name), "model");
  const auto stream = raw(fields, "stream");
  chat.add_json("stream", stream.value_or("true"), "stream");
  return {};
}

ApiResult<void> read_calls(const RequestFields& message, const std::string& path, ChatBody& chat) {
  const auto calls = message.find("tool_calls");
  array list;
  if (!calls) return {};
  if (calls->get(list) != simdjson::SUCCESS) {
    return std::unexpected(bad_field(path + ".tool_calls", fmt::format("`{}.tool_calls` must be a list.", path)));
  }
  size_t index = 0;
  for (element one : list) {
    const std::string at = fmt::format("{}.tool_calls[{}]", path, index++);
    object call;
    if (one.get(call) != simdjson::SUCCESS) return std::unexpected(bad_field(at, fmt::format("`{}` must be an object.", at)));
    TRY(const auto function, RequestFields(call, at + ".").object("function"));
    if (!function) return std::unexpected(bad_field(at, fmt::format("`{}.function` is missing.", at)));
    chat.call(*function, "id", "arguments", at + ".function");
  }
  return {};
}

ApiResult<void> add_message(element given, const std::string& path, ChatBody& chat) {
  object fields;
  if (given.get(fields) != simdjson::SUCCESS) {
    return std::unexpected(bad_field(path, fmt::format("`{}` must be an object with `role` and `content`.", path)));
  }
  const RequestFields message(fields, path + ".");
  TRY(const auto role, message.text("role"));
  TRY_VOID(refuse(message, "images", "cannot be seen: this model reads text only."));
  ChatBody::Turn& turn = chat.turn(std::string(role.value_or("")), path);
  turn.content = raw(message, "content").value_or(R"("")");
  turn.reasoning = raw(message, "thinking");
  turn.call_id = raw(message, "tool_name");  // Ollama's calls have no ids
  chat.names.add(chat.newest() + ".reasoning_content", path + ".thinking");
  chat.names.add(chat.newest() + ".tool_call_id", path + ".tool_name");
  TRY_VOID(read_calls(message, path, chat));
  chat.ignore_unread_of_piece(message);
  return {};
}

ApiResult<void> read_turns(const RequestFields& fields, ChatBody& chat) {
  TRY(const array messages, message_list(fields));
  if (messages.size() > kMessagesMax) return std::unexpected(too_many("messages", "messages", messages.size(), kMessagesMax));
  size_t index = 0;
  for (element message : messages) TRY_VOID(add_message(message, fmt::format("messages[{}]", index++), chat));
  chat.add("tools", "tools");
  return {};
}

ApiResult<void> read_prompt(const RequestFields& fields, ChatBody& chat) {
  TRY_VOID(refuse(fields, "raw", "is not built: send a prompt without a template to /v1/completions."));
  TRY_VOID(refuse(fields, "suffix", "is not built: no model here was trained to fill in the middle."));
  TRY_VOID(refuse(fields, "template", "is not built: the model's own chat template is used."));
  TRY_VOID(refuse(fields, "context", "is not kept here: send the earlier turns to /api/chat."));
  TRY_VOID(refuse(fields, "images", "cannot be seen: this model reads text only."));
  if (const auto system = raw(fields, "system"); system && system != R"("")") {
    chat.turn("system", "system").content = *system;
    chat.names.add(chat.newest() + ".content", "system");
  }
  TRY(const auto prompt, fields.text("prompt"));
  chat.turn("user", "prompt").content = as_json(*prompt);
  chat.names.add(chat.newest() + ".content", "prompt");
  return {};
}

// Without a prompt or a message, clients ask for the model to be loaded. It is always.
ApiResult<bool> only_loads(const RequestFields& fields, OllamaKind kind) {
  if (kind == OllamaKind::generate) {
    TRY(const auto prompt, fields.text("prompt"));
    return prompt.value_or("").empty();
  }
  const auto messages = fields.find("messages");
  array list;
  return !messages || (messages->get(list) == simdjson::SUCCESS && list.size() == 0);
}

ApiResult<Asked> read(std::string_view body, const ServedModel& model, OllamaKind kind) {
  TRY(const RequestBody json, RequestBody::parse(body));
  ChatBody chat(json.fields());
  TRY_VOID(read_common(json.fields(), model.offer, chat));
  TRY(const bool loads, only_loads(json.fields(), kind));
  if (loads) {
    const std::string_view name = json.fields().text("model")->value();
    TRY_VOID(check_ollama_model(name, model.offer));
    return Asked{.request = {}, .format = nullptr, .at_once = loaded_json(kind, name)};
  }
  TRY_VOID(kind == OllamaKind::chat ? read_turns(json.fields(), chat) : read_prompt(json.fields(), chat));
  TRY(ChatRequest request, chat.parse(model.offer));
  return Asked{.request = std::move(request),
               .format = [kind](AnswerHead head) { return std::make_unique<OllamaFormat>(kind, std::move(head)); },
               .names = std::move(chat.names)};
}

}  // namespace

std::string_view without_latest(std::string_view name) {
  constexpr std::string_view kLatest = ":latest";
  if (name.ends_with(kLatest)) name.remove_suffix(kLatest.size());
  return name;
}

ApiResult<Asked> read_ollama_chat(std::string_view body, const ServedModel& model) {
  return read(body, model, OllamaKind::chat);
}

ApiResult<Asked> read_ollama_generate(std::string_view body, const ServedModel& model) {
  return read(body, model, OllamaKind::generate);
}

}  // namespace slipstream
