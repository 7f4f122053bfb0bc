// Messages -> prompt text, over the Rust crate `minijinja` (with pycompat), from the model's own chat template. Thread-safe.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "common/base/result.h"

namespace slipstream {

struct ChatMessage {
  std::string role;     // "system", "user", "assistant"; the template decides which it knows
  std::string content;
};

class ChatTemplate {
 public:
  // From chat_template.jinja, or the `chat_template` of tokenizer_config.json, in the model's folder.
  static Result<ChatTemplate> load(const std::filesystem::path& model_folder);
  // Ends with the words that make the model answer (add_generation_prompt).
  Result<std::string> render(std::span<const ChatMessage> messages) const;

 private:
  struct Handle;
  std::shared_ptr<const Handle> handle_;
};

}  // namespace slipstream
