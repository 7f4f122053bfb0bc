#include "services/router/http_api/tool_fields.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/base/limits.h"
#include "services/router/http_api/bounded_json.h"
#include "services/router/http_api/unread_keys.h"

namespace slipstream {
namespace {

using Json = nlohmann::ordered_json;
using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// Names as OpenAI allows them.
bool is_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
  };
  return !name.empty() && name.size() <= kToolNameBytesMax && std::ranges::all_of(name, allowed);
}

ApiResult<std::string_view> read_function_name(const RequestFields& function) {
  TRY(const auto name, function.text("name"));
  if (name && is_name(*name)) return *name;
  return std::unexpected(
      bad_field(function.name("name"), fmt::format("`{}` must be 1 to {} letters, digits, dots, dashes or underscores.",
                                                   function.name("name"), kToolNameBytesMax)));
}

// One of `tools`, or of `tool_calls`: {"type": "function", "function": {...}}. unread: gets its
// other keys; null: nobody wants them.
ApiResult<RequestFields> read_function(element given, const std::string& path, UnreadKeys* unread) {
  object fields;
  if (given.get(fields) != simdjson::SUCCESS) {
    return std::unexpected(bad_field(path, fmt::format("`{}` must be an object with `type` and `function`.", path)));
  }
  const RequestFields tool(fields, path + ".");
  TRY(const auto type, tool.text("type"));
  if (type.value_or("function") != "function") {
    return std::unexpected(unsupported(path + ".type", fmt::format("`{}.type` must be \"function\".", path)));
  }
  TRY(const auto function, tool.object("function"));
  if (!function) return std::unexpected(bad_field(path + ".function", fmt::format("`{}.function` is missing.", path)));
  if (unread != nullptr) unread->note(tool);
  return *function;
}

// What `tool_choice` says. Returns whether the model may call a tool at all.
ApiResult<bool> read_choice(const RequestFields& body, ToolFields& read, UnreadKeys& unread) {
  const auto choice = body.find("tool_choice");
  if (!choice) return true;
  std::string_view word;
  if (choice->get(word) == simdjson::SUCCESS && (word == "auto" || word == "none" || word == "required")) {
    read.must_call = word == "required";
    return word != "none";
  }
  object named;
  if (choice->get(named) == simdjson::SUCCESS) {
    const RequestFields fields(named, "tool_choice.");
    const auto type = fields.text("type");
    TRY(const auto function, fields.object("function"));
    if (type && *type == "function" && function) {
      TRY(read.name, read_function_name(*function));
      unread.note(fields);
      unread.note(*function);
      read.must_call = true;
      return true;
    }
  }
  return std::unexpected(bad_field("tool_choice",
                                   "`tool_choice` must be \"auto\", \"none\", \"required\", or one tool: "
                                   "{\"type\": \"function\", \"function\": {\"name\": \"...\"}}."));
}

// A call's arguments are an object, so the schema of anything else asks for calls that nobody can
// read.
ApiResult<void> check_parameters(const RequestFields& function) {
  TRY(const auto parameters, function.object("parameters"));
  std::string_view type;
  const auto given = parameters ? parameters->find("type") : std::nullopt;
  constexpr std::string_view kOthers[] = {"array", "string", "number", "integer", "boolean", "null"};
  if (!given || given->get(type) != simdjson::SUCCESS || std::ranges::find(kOthers, type) == std::end(kOthers)) return {};
  const std::string name = function.name("parameters");
  return std::unexpected(bad_field(
      name,
      fmt::format("`{}` must be the schema of an object, as a call's arguments are one; its type is \"{}\".", name, type)));
}

// OpenAI's clients send arguments as a text; templates print an object.
ApiResult<Json> read_arguments(const RequestFields& function) {
  const auto given = function.find("arguments");
  if (!given) return Json::object();
  std::string_view text;
  const std::string json = given->get(text) == simdjson::SUCCESS ? std::string(text) : simdjson::minify(*given);
  if (json.empty()) return Json::object();
  if (auto arguments = parse_bounded_object(json)) return *std::move(arguments);
  return std::unexpected(bad_field(function.name("arguments"),
                                   fmt::format("`{}` must be a JSON object, or one as text, of at most {} levels and {} keys.",
                                               function.name("arguments"), kJsonDepthMax, kJsonKeysMax)));
}

}  // namespace

ApiResult<ToolFields> read_tools(const RequestFields& body) {
  ToolFields read;
  UnreadKeys unread(read.ignored);
  TRY(const bool may, read_choice(body, read, unread));
  TRY(const auto parallel, body.boolean("parallel_tool_calls"));
  read.parallel = parallel.value_or(true);
  const auto given = body.find("tools");
  array list;
  if (!given && !read.must_call) return read;
  if (!given) return std::unexpected(bad_field("tool_choice", "`tool_choice` asks for a call, and `tools` is missing."));
  if (given->get(list) != simdjson::SUCCESS) {
    return std::unexpected(bad_field("tools", fmt::format("`tools` must be a list; it is {}.", kind_of(*given))));
  }
  if (list.size() > kToolsMax) {
    return std::unexpected(too_many("tools", "tools", list.size(), kToolsMax));
  }
  if (!has_few_keys(*given)) {
    return std::unexpected(bad_field("tools", fmt::format("an object in `tools` has over {} keys.", kJsonKeysMax)));
  }
  size_t index = 0;
  for (element tool : list) {
    TRY(const auto function, read_function(tool, fmt::format("tools[{}]", index++), &unread));
    TRY_VOID(read_function_name(function));
    TRY_VOID(check_parameters(function));
    for (const std::string_view known : {"description", "strict"}) function.find(known);
    unread.note(function);
  }
  if (may && list.size() > 0) read.tools = json_value(*given).dump();
  if (read.must_call && list.size() == 0) {
    return std::unexpected(bad_field("tool_choice", "`tool_choice` asks for a call, and `tools` is empty."));
  }
  return read;
}

ApiResult<std::string> read_tool_message(const RequestFields& message, std::string_view role) {
  Json fields = Json::object();
  if (role == "tool") {
    for (const std::string_view name : {"tool_call_id", "name"}) {
      TRY(const auto text, message.text(name));
      if (text) fields[std::string(name)] = *text;
    }
  }
  if (role == "assistant") {
    TRY(const auto thought, message.text("reasoning_content"));
    if (thought) fields["reasoning_content"] = *thought;
  }
  const auto calls = role == "assistant" ? message.find("tool_calls") : std::nullopt;
  array list;
  if (calls && calls->get(list) != simdjson::SUCCESS) {
    return std::unexpected(bad_field(message.name("tool_calls"), fmt::format("`{}` must be a list; it is {}.",
                                                                             message.name("tool_calls"), kind_of(*calls))));
  }
  if (!calls || list.size() == 0) return fields.empty() ? std::string() : fields.dump();
  Json written = Json::array();
  for (element call : list) {
    const std::string path = fmt::format("{}[{}]", message.name("tool_calls"), written.size());
    TRY(const auto function, read_function(call, path, nullptr));
    TRY(const auto name, read_function_name(function));
    TRY(Json arguments, read_arguments(function));
    Json one{{"type", "function"}, {"function", {{"name", name}, {"arguments", std::move(arguments)}}}};
    if (const auto id = member_text(object(call), "id")) one["id"] = *id;
    written.push_back(std::move(one));
  }
  fields["tool_calls"] = std::move(written);
  return fields.dump();
}

}  // namespace slipstream
