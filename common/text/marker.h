// Puts a mark where a text spells a special token, so that the tokenizer does not see one (chat_prompt.h).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/text/chat_template.h"

namespace slipstream {

class Marker {
 public:
  // Chooses a private-use character (planes 15 and 16) that no message contains. The specials must outlive the marker.
  static Result<Marker> for_messages(std::span<const ChatMessage> messages, std::span<const std::string> specials);

  // The words with marks: inside every special token, at the end of a beginning of one that ends the words, and before an
  // end of one that begins them. An error if a special token is a single character: nothing can go inside it.
  Result<std::string> marked(std::string_view words) const;
  char32_t mark() const { return mark_; }

 private:
  Marker(char32_t mark, std::span<const std::string> specials);
  bool begins_special(std::string_view rest) const;
  bool ends_special(std::string_view words) const;

  char32_t mark_;
  std::string mark_text_;
  std::span<const std::string> specials_;
};

}  // namespace slipstream
