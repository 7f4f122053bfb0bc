#include "services/router/http_api/anthropic_request.h"

#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/base/limits.h"
#include "services/router/http_api/anthropic_format.h"
#include "services/router/http_api/chat_body.h"
#include "services/router/http_api/generation_fields.h"
#include "services/router/http_api/json_text.h"
#include "services/router/http_api/message_fields.h"
#include "services/router/http_api/prompts.h"
#include "services/router/http_api/request_body.h"

namespace slipstream {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

std::string text_part(const RequestFields& block) {
  return JsonObject().add("type", R"("text")").add_if("text", raw(block, "text")).text();
}

ApiError no_block(const std::string& path, std::string_view what) {
  return bad_field(path, fmt::format("`{}` must be a block with a `type`; it is {}.", path, what));
}

// Gives each block of a list to `take`, with its type and its path.
using TakeBlock = std::function<ApiResult<void>(const RequestFields& block, std::string_view type, const std::string& at)>;
ApiResult<void> for_blocks(array blocks, const std::string& path, ChatBody& chat, const TakeBlock& take) {
  if (blocks.size() > kContentPartsMax) return std::unexpected(too_many(path, "blocks", blocks.size(), kContentPartsMax));
  size_t index = 0;
  for (element one : blocks) {
    const std::string at = fmt::format("{}[{}]", path, index++);
    object fields;
    if (one.get(fields) != simdjson::SUCCESS) return std::unexpected(no_block(at, kind_of(one)));
    const RequestFields block(fields, at + ".");
    TRY(const auto type, block.text("type"));
    if (!type) return std::unexpected(no_block(at, "without one"));
    TRY_VOID(take(block, *type, at));
    for (const std::string_view told : {"cache_control", "citations", "signature"}) block.find(told);  // they change no word
    chat.ignore_unread_of_piece(block);
  }
  return {};
}

ApiError wrong_type(const std::string& path, std::string_view type, std::string_view allowed) {
  return unsupported(path + ".type", fmt::format("`{}.type` is \"{}\": it must be {} here.", path, type, allowed));
}

// A text, or a list of text blocks, as the content of a chat's message; nullopt: it is absent.
ApiResult<std::optional<std::string>> text_of(const RequestFields& fields, std::string_view name, ChatBody& chat) {
  const auto content = fields.find(name);
  array blocks;
  if (!content || content->get(blocks) != simdjson::SUCCESS) return raw(fields, name);
  std::vector<std::string> parts;
  const TakeBlock take = [&](const RequestFields& block, std::string_view type, const std::string& at) -> ApiResult<void> {
    if (type != "text") return std::unexpected(wrong_type(at, type, "text"));
    parts.push_back(text_part(block));
    return {};
  };
  TRY_VOID(for_blocks(blocks, fields.name(name), chat, take));
  return json_list(parts);
}

// The text blocks of one message, collected to be the content of a turn.
struct Texts {
  std::vector<std::string> parts, paths;

  void put(const RequestFields& block, const std::string& at) {
    parts.push_back(text_part(block));
    paths.push_back(at);
  }
  void give(ChatBody::Turn& turn, ChatBody& chat) const {
    turn.content = json_list(parts);
    for (size_t i = 0; i < paths.size(); ++i) chat.names.add(fmt::format("{}.content[{}]", chat.newest(), i), paths[i]);
  }
};

// Results of tools are messages of their own in a chat. They come before the user's words.
ApiResult<void> add_user(array blocks, const std::string& path, ChatBody& chat) {
  Texts texts;
  bool results = false;
  const TakeBlock take = [&](const RequestFields& block, std::string_view type, const std::string& at) -> ApiResult<void> {
    if (type == "text") {
      texts.put(block, at);
      return {};
    }
    if (type != "tool_result") {
      return std::unexpected(wrong_type(at, type, "text or tool_result: this model reads text only,"));
    }
    TRY(auto content, text_of(block, "content", chat));
    ChatBody::Turn& turn = chat.turn("tool", at);
    turn.content = content.value_or(R"("")");
    turn.call_id = raw(block, "tool_use_id");
    chat.names.add(chat.newest() + ".tool_call_id", at + ".tool_use_id");
    results = true;
    return {};
  };
  TRY_VOID(for_blocks(blocks, path + ".content", chat, take));
  if (!texts.parts.empty() || !results) texts.give(chat.turn("user", path), chat);
  return {};
}

ApiResult<void> add_assistant(array blocks, const std::string& path, ChatBody& chat) {
  Texts texts;
  ChatBody::Turn& turn = chat.turn("assistant", path);
  const TakeBlock take = [&](const RequestFields& block, std::string_view type, const std::string& at) -> ApiResult<void> {
    if (type == "text") {
      texts.put(block, at);
    } else if (type == "tool_use") {
      chat.call(block, "id", "input", at);
    } else if (type == "thinking") {
      turn.reasoning = raw(block, "thinking");
      chat.names.add(chat.newest() + ".reasoning_content", at + ".thinking");
    } else if (type == "redacted_thinking") {
      block.find("data");  // nobody but its writer can read it
    } else {
      return std::unexpected(wrong_type(at, type, "text, tool_use or thinking"));
    }
    return {};
  };
  TRY_VOID(for_blocks(blocks, path + ".content", chat, take));
  texts.give(turn, chat);
  return {};
}

ApiResult<std::string_view> add_message(element given, const std::string& path, ChatBody& chat) {
  object fields;
  if (given.get(fields) != simdjson::SUCCESS) {
    return std::unexpected(bad_field(path, fmt::format("`{}` must be an object with `role` and `content`.", path)));
  }
  const RequestFields message(fields, path + ".");
  TRY(const auto role, message.text("role"));
  if (role != "user" && role != "assistant") {
    return std::unexpected(bad_field(
        path + ".role", fmt::format("`{0}.role` must be user or assistant; it is \"{1}\". `system` is a field of its own.",
                                    path, role.value_or(""))));
  }
  const auto content = message.find("content");
  chat.ignore_unread_of_piece(message);
  array blocks;
  if (!content || content->get(blocks) != simdjson::SUCCESS) {
    chat.turn(std::string(*role), path).content = raw(message, "content").value_or("null");
    if (!content) return std::unexpected(bad_field(path + ".content", fmt::format("`{}.content` is missing.", path)));
    return *role;
  }
  TRY_VOID(role == "user" ? add_user(blocks, path, chat) : add_assistant(blocks, path, chat));
  return *role;
}

// A last message of the assistant is continued.
ApiResult<void> read_turns(const RequestFields& fields, ChatBody& chat) {
  TRY(auto system, text_of(fields, "system", chat));
  if (system) {
    chat.turn("system", "system").content = std::move(system);
    chat.names.add("messages[0].content", "system");
  }
  TRY(const array messages, message_list(fields));
  if (messages.size() > kMessagesMax) return std::unexpected(too_many("messages", "messages", messages.size(), kMessagesMax));
  size_t index = 0;
  std::string_view last;
  for (element message : messages) {
    TRY(last, add_message(message, fmt::format("messages[{}]", index++), chat));
  }
  if (last == "assistant") {
    chat.add_json("continue_final_message", "true", "messages");
    chat.add_json("add_generation_prompt", "false", "messages");
  }
  return {};
}

// {"name", "description", "input_schema"}, where a chat has {"type": "function", "function": ...}.
ApiResult<void> read_tools(const RequestFields& fields, ChatBody& chat) {
  const auto tools = fields.find("tools");
  array list;
  if (!tools || tools->get(list) != simdjson::SUCCESS || list.size() > kToolsMax) {
    chat.add("tools", "tools");
    return {};
  }
  std::vector<std::string> written;
  for (element one : list) {
    const std::string at = fmt::format("tools[{}]", written.size());
    object tool_object;
    if (one.get(tool_object) != simdjson::SUCCESS) {
      return std::unexpected(bad_field(at, fmt::format("`{}` must be an object; it is {}.", at, kind_of(one))));
    }
    const RequestFields tool(tool_object, at + ".");
    TRY(const auto type, tool.text("type"));
    if (type.value_or("custom") != "custom") return std::unexpected(wrong_type(at, *type, "custom"));
    JsonObject function;
    function.add_if("name", raw(tool, "name")).add_if("description", raw(tool, "description"));
    function.add_if("parameters", raw(tool, "input_schema"));
    for (const std::string_view told : {"cache_control", "strict"}) tool.find(told);  // they change no word
    chat.ignore_unread_of_piece(tool);
    chat.names.add(at + ".function.parameters", at + ".input_schema");
    chat.names.add(at + ".function", at);
    written.push_back(JsonObject().add("type", R"("function")").add("function", function.text()).text());
  }
  chat.add_json("tools", json_list(written), "tools");
  return {};
}

ApiResult<void> read_tool_choice(const RequestFields& fields, ChatBody& chat) {
  TRY(const auto choice, fields.object("tool_choice"));
  if (!choice) return {};
  TRY(const auto type, choice->text("type"));
  if (type == "auto" || type == "none") {
    chat.add_json("tool_choice", as_json(*type), "tool_choice");
  } else if (type == "any") {
    chat.add_json("tool_choice", R"("required")", "tool_choice");
  } else if (type == "tool") {
    JsonObject function;
    function.add_if("name", raw(*choice, "name"));
    chat.add_json("tool_choice", JsonObject().add("type", R"("function")").add("function", function.text()).text(),
                  "tool_choice");
  } else {
    return std::unexpected(
        bad_field("tool_choice.type",
                  fmt::format("`tool_choice.type` must be auto, any, tool or none; it is \"{}\".", type.value_or(""))));
  }
  TRY(const auto alone, choice->boolean("disable_parallel_tool_use"));
  chat.ignore_unread(*choice);
  if (alone.value_or(false)) chat.add_json("parallel_tool_calls", "false", "tool_choice.disable_parallel_tool_use");
  return {};
}

// Whether the model shall think first, for templates that leave the choice.
ApiResult<void> read_thinking(const RequestFields& fields, ChatBody& chat) {
  TRY(const auto thinking, fields.object("thinking"));
  if (!thinking) return {};
  TRY(const auto type, thinking->text("type"));
  if (type != "enabled" && type != "disabled" && type != "adaptive") {
    return std::unexpected(
        bad_field("thinking.type",
                  fmt::format("`thinking.type` must be enabled, adaptive or disabled; it is \"{}\".", type.value_or(""))));
  }
  if (thinking->find("budget_tokens") && type == "enabled") {
    chat.warn("`thinking.budget_tokens` is not used: `max_tokens` alone says how long the model may think.");
  }
  chat.ignore_unread(*thinking);
  chat.think(type != "disabled", "thinking");
  return {};
}

// `output_config`: {"format": {"type": "json_schema", "schema"}, "effort"}; `output_format` is the
// format alone, under its name of before.
ApiResult<void> read_format(const RequestFields& fields, ChatBody& chat) {
  TRY(const auto output, fields.object("output_config"));
  if (!output) return chat.add_format(fields, "output_format");
  for (const auto& part : output->object()) {
    if (part.key != "format") chat.ignore(output->name(part.key));
  }
  return chat.add_format(*output, "format");
}

ApiResult<ChatRequest> read_chat(const RequestFields& fields, const Offer& offer, ChatBody& chat) {
  TRY_VOID(read_turns(fields, chat));
  TRY_VOID(read_tools(fields, chat));
  TRY_VOID(read_tool_choice(fields, chat));
  TRY_VOID(read_thinking(fields, chat));
  TRY_VOID(read_format(fields, chat));
  chat.add("stop", "stop_sequences");
  chat.add("max_tokens", "max_tokens");
  TRY_VOID(fields.object("metadata"));  // whose request it is, for Anthropic
  return chat.parse(offer);
}

}  // namespace

ApiResult<Asked> read_anthropic(std::string_view body, const ServedModel& model) {
  TRY(const RequestBody json, RequestBody::parse(body));
  ChatBody chat(json.fields());
  TRY(ChatRequest request, read_chat(json.fields(), model.offer, chat));
  if (!json.fields().find("max_tokens")) {
    return std::unexpected(bad_field("max_tokens", "`max_tokens` is missing: it says how long the answer may get."));
  }
  return Asked{.request = std::move(request),
               .format = [](AnswerHead head) { return std::make_unique<AnthropicFormat>(std::move(head)); },
               .names = std::move(chat.names)};
}

ApiResult<std::string> count_anthropic(std::string_view body, const ServedModel& model, int32_t context) {
  TRY(const RequestBody json, RequestBody::parse(body));
  ChatBody chat(json.fields());
  TRY(ChatRequest request, read_chat(json.fields(), model.offer, chat));
  TRY_VOID(tell_ignored(request, model.offer));
  const auto prompts = prompts_of(request, model, context);
  if (!prompts) return std::unexpected(chat.names.renamed(prompts.error()));
  nlohmann::ordered_json counted{{"input_tokens", prompts->front().tokens.size()}};
  if (!request.warnings.empty()) counted["slipstream"] = {{"warnings", request.warnings}};
  return dump(counted);
}

}  // namespace slipstream
