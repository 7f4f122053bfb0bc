#include "services/router/http_api/message_fields.h"

#include <fmt/format.h>

#include "common/base/limits.h"
#include "services/router/http_api/tool_fields.h"
#include "services/router/http_api/unread_keys.h"

namespace slipstream {
namespace {

using simdjson::dom::element;

// Content is a string, or a list of {"type": "text", "text": ...} parts, which are joined.
ApiResult<std::string> read_content(element content, const std::string& path, UnreadKeys& unread) {
  std::string_view text;
  if (content.get(text) == simdjson::SUCCESS) return std::string(text);
  simdjson::dom::array parts;
  if (content.get(parts) != simdjson::SUCCESS) {
    return std::unexpected(
        bad_field(path, fmt::format("`{}` must be a string or a list of text parts; it is {}.", path, kind_of(content))));
  }
  if (parts.size() > kContentPartsMax) return std::unexpected(too_many(path, "parts", parts.size(), kContentPartsMax));
  std::string joined;
  size_t index = 0;
  for (element part : parts) {
    const std::string at = fmt::format("{}[{}]", path, index++);
    simdjson::dom::object object;
    const bool is_object = part.get(object) == simdjson::SUCCESS;
    const auto type = is_object ? member_text(object, "type") : std::nullopt;
    if (!type) {
      return std::unexpected(bad_field(at, fmt::format("`{}` must be an object with a `type`.", at)));
    }
    if (type != "text") {
      return std::unexpected(
          bad_field(at + ".type", fmt::format("`{}.type` is \"{}\": this model reads text only.", at, *type)));
    }
    const auto words = member_text(object, "text");
    if (!words) {
      return std::unexpected(bad_field(at + ".text", fmt::format("`{}.text` must be a string.", at)));
    }
    joined += *words;
    const RequestFields fields(object, at + ".");
    for (const std::string_view known : {"type", "text", "cache_control"}) fields.find(known);  // prefixes are always cached
    unread.note(fields);
  }
  return joined;
}

ApiResult<ChatMessage> read_message(element message, const std::string& path, UnreadKeys& unread) {
  simdjson::dom::object object;
  if (message.get(object) != simdjson::SUCCESS) {
    return std::unexpected(bad_field(path, fmt::format("`{}` must be an object with `role` and `content`.", path)));
  }
  const RequestFields fields(object, path + ".");
  TRY(const auto role, fields.text("role"));
  const std::string_view given = role.value_or("");
  const std::string_view known = given == "developer" ? "system" : given;  // OpenAI's newer name for it
  if (known != "system" && known != "user" && known != "assistant" && known != "tool") {
    return std::unexpected(bad_field(
        fields.name("role"),
        fmt::format("`{}` must be system, developer, user, assistant or tool; it is \"{}\".", fields.name("role"), given)));
  }
  TRY(std::string more, read_tool_message(fields, known));
  const auto content = fields.find("content");
  fields.find("annotations");  // of an answer that a client sends back
  unread.note(fields);
  if (!content) {
    // OpenAI's own clients send null beside calls.
    if (known == "assistant") return ChatMessage{std::string(known), "", std::move(more)};
    const bool null = object.at_key("content").error() == simdjson::SUCCESS;
    return std::unexpected(
        bad_field(fields.name("content"), fmt::format("`{}` is {}.", fields.name("content"), null ? "null" : "missing")));
  }
  TRY(auto text, read_content(*content, fields.name("content"), unread));
  return ChatMessage{std::string(known), std::move(text), std::move(more)};
}

}  // namespace

ApiResult<simdjson::dom::array> message_list(const RequestFields& body) {
  const auto given = body.find("messages");
  simdjson::dom::array messages;
  const bool is_list = given && given->get(messages) == simdjson::SUCCESS;
  if (is_list && messages.size() > 0) return messages;
  const std::string is = !given ? "missing" : is_list ? "empty" : kind_of(*given);
  return std::unexpected(
      bad_field("messages", fmt::format("`messages` must be a list of at least one message; it is {}.", is)));
}

ApiResult<std::vector<ChatMessage>> read_messages(const RequestFields& body, std::vector<std::string>& ignored) {
  const auto messages = message_list(body);
  if (!messages) {
    ApiError error = messages.error();
    if (body.find("prompt")) error.message += " `prompt` is not read here: send it as the content of a user's message.";
    return std::unexpected(std::move(error));
  }
  if (messages->size() > kMessagesMax) {
    return std::unexpected(too_many("messages", "messages", messages->size(), kMessagesMax));
  }
  std::vector<ChatMessage> chat;
  UnreadKeys unread(ignored);
  for (element message : *messages) {
    TRY(auto read, read_message(message, fmt::format("messages[{}]", chat.size()), unread));
    chat.push_back(std::move(read));
  }
  return chat;
}

}  // namespace slipstream
