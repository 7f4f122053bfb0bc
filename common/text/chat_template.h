// Renders the messages of a chat to prompt text with the model's own chat template (Jinja), over
// the Rust crate `minijinja` with its `pycompat`. Immutable after load; thread-safe.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace slipstream {

struct ChatMessage {
  std::string role;     // "system", "user", "assistant", "tool"; the template decides which roles it accepts
  std::string content;  // UTF-8
  std::string more;     // a JSON object of its other fields, such as {"tool_calls": [...]}; empty: none
};

// What a template gets beside the messages.
struct ChatExtras {
  std::string tools;                    // a JSON list of {"type": "function", "function": {...}}; empty: none
  std::string variables;                // a JSON object of the template's own, such as {"enable_thinking": false}; empty: none
  bool add_generation_prompt = true;    // the text ends where the assistant's answer begins
  bool continue_final_message = false;  // the text ends inside the last message; goes with add_generation_prompt: false
};

class ChatTemplate {
 public:
  // Reads the template from the model's folder: chat_template.jinja, or else the `chat_template` of
  // tokenizer_config.json.
  static Result<ChatTemplate> load(const std::filesystem::path& model_folder);
  // The same from the text of these two files; empty if a file does not exist. `what` names the
  // model in errors.
  static Result<ChatTemplate> parse(std::string_view jinja, std::string_view tokenizer_config, const std::string& what);
  // The text of the prompt. `now` is for templates that print the date. If the template refuses a
  // role or the order of the roles, the error is in its own words.
  Result<std::string> render(std::span<const ChatMessage> messages,
                             std::chrono::system_clock::time_point now = std::chrono::system_clock::now(),
                             const ChatExtras& extras = {}) const;
  // Whether the template reads a variable, such as "tools".
  bool reads(std::string_view variable) const;
  std::string_view source() const;  // Jinja; valid while this object or a copy of it lives

 private:
  struct Handle;
  explicit ChatTemplate(std::shared_ptr<const Handle> handle) : handle_(std::move(handle)) {}

  std::shared_ptr<const Handle> handle_;
};

}  // namespace slipstream
