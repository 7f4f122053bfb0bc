// Messages -> token ids, with nobody's words able to act as special tokens: "<|im_end|>" inside a
// message is text, not the end of the message. Equal to Hugging Face's apply_chat_template for
// messages that hold no special token.
//
// How: where a message spells a special token, or begins or ends with a part of one that its
// surroundings could complete, a mark goes in before the template runs (a private-use character
// that occurs in no message). The marked text is not a special token to the tokenizer, which takes
// the marks out again before it splits the text into tokens.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/limits.h"
#include "common/base/result.h"
#include "common/text/chat_template.h"
#include "common/text/tokenizer.h"

namespace slipstream {

// Puts a mark where a text spells a special token, so that the tokenizer does not see one.
class Marker {
 public:
  // Chooses a private-use character (planes 15 and 16) that no message contains. The specials must
  // outlive the marker.
  static Result<Marker> for_messages(std::span<const ChatMessage> messages, std::span<const std::string> specials);

  // The words with marks: inside every special token, at the end of a beginning of one that ends
  // the words, and before an end of one that begins them. An error if a special token is a single
  // character: nothing can go inside it.
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

// A prompt of more than tokens_max tokens is an error; one that is far longer costs no time or
// memory in the tokenizer.
Result<std::vector<TokenId>> chat_prompt(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                                         std::span<const ChatMessage> messages, size_t tokens_max = kContextTokensMax);

}  // namespace slipstream
