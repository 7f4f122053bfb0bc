#include "tools/slipstream/chat/conversation.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace slipstream::command::chat {
namespace {

using Json = nlohmann::ordered_json;

Json message(const char* role, const std::string& content) { return {{"role", role}, {"content", content}}; }

std::string quoted_lines(const std::string& text) {
  std::string quoted = "> ";
  for (const char c : text) quoted += c == '\n' ? std::string("\n> ") : std::string(1, c);
  return quoted;
}

}  // namespace

std::optional<std::string> Conversation::take_back() {
  if (turns_.empty()) return std::nullopt;
  std::string question = std::move(turns_.back().question);
  turns_.pop_back();
  return question;
}

std::vector<Message> Conversation::messages() const {
  std::vector<Message> messages;
  for (const Turn& turn : turns_) {
    messages.push_back({"user", turn.question});
    messages.push_back({"assistant", turn.answer});
  }
  return messages;
}

std::string Conversation::markdown(const std::string& model) const {
  std::string text = fmt::format("# A chat with {}\n", model);
  if (!system.empty()) text += fmt::format("\n*System: {}*\n", system);
  for (const Turn& turn : turns_) {
    text += fmt::format("\n{}\n\n{}\n", quoted_lines(turn.question), turn.answer);
    if (!turn.cut.empty()) text += fmt::format("\n*[{}]*\n", turn.cut);
  }
  return text;
}

std::string Conversation::json(const std::string& model) const {
  Json messages = Json::array();
  if (!system.empty()) messages.push_back(message("system", system));
  for (const Turn& turn : turns_) {
    messages.push_back(message("user", turn.question));
    messages.push_back(message("assistant", turn.answer));
    if (!turn.cut.empty()) messages.back()["cut"] = turn.cut;
  }
  const Json body{{"model", model}, {"messages", std::move(messages)}};
  return body.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace slipstream::command::chat
