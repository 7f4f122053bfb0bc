// Messages -> prompt text, over the Rust crate `minijinja` (with pycompat), from the model's own
// chat template. Immutable after load; thread-safe.
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
  std::string role;     // "system", "user", "assistant"; the template decides which it knows
  std::string content;  // UTF-8
};

class ChatTemplate {
 public:
  // From chat_template.jinja, or the `chat_template` of tokenizer_config.json, in the model's
  // folder.
  static Result<ChatTemplate> load(const std::filesystem::path& model_folder);
  // From the text of these two files; an empty one is not there. `what` names the model in errors.
  static Result<ChatTemplate> parse(std::string_view jinja, std::string_view tokenizer_config, const std::string& what);
  // Ends with the words that make the model answer (add_generation_prompt). `now` is for templates
  // that print the date; the error is the template's own when it refuses a role or an order of
  // roles.
  Result<std::string> render(std::span<const ChatMessage> messages,
                             std::chrono::system_clock::time_point now = std::chrono::system_clock::now()) const;

 private:
  struct Handle;
  explicit ChatTemplate(std::shared_ptr<const Handle> handle) : handle_(std::move(handle)) {}

  std::shared_ptr<const Handle> handle_;
};

}  // namespace slipstream
