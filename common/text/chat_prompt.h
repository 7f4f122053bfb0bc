// Turns the messages of a chat into the token ids of its prompt. Text in a message can never act as
// a special token: "<|im_end|>" inside a message is text, and does not end the message. For
// messages without special tokens the result equals Hugging Face's apply_chat_template.
//
// How:
//   1. Choose a mark: a private-use character that occurs in no message.
//   2. Insert the mark into every special token that a message spells, and where a message begins
//      or ends with a part of one that the template's text could complete. The same in every string
//      of its other fields, of the tools and of the template's variables.
//   3. Run the chat template. Only the template's own special tokens are whole now.
//   4. Tokenize: find the special tokens, then remove the marks, then split into tokens.
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

// Inserts marks into a text so that the tokenizer finds no special token in it (step 2 above).
class Marker {
 public:
  // Chooses the mark: a private-use character of planes 15 and 16 that no text contains. An error
  // if the texts use all of them. `specials` must outlive the marker.
  static Result<Marker> for_texts(std::span<const std::string> texts, std::span<const std::string> specials);

  // `words` with marks. For the special token "<|end|>" and the mark *:
  //   "a <|end|> b"    "a <*|end|> b"     a whole one: a mark after its first character
  //   "a <|e"          "a <*|e"           its beginning, at the end of the words: the same
  //   "nd|> b"         "*nd|> b"          its end, at the beginning of the words: a mark before it
  // An error if `words` contain a special token of one character: a mark cannot go inside it.
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

// The prompt of a chat. Errors: a role that is not a plain word, a message with a special token of
// one character, a refusal by the template, a last message that cannot be continued, or more than
// tokens_max tokens. A prompt that must be too long by its size in bytes is refused before it is
// tokenized. REQUIRES: the JSON of `more` and of the extras is valid.
Result<std::vector<TokenId>> chat_prompt(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                                         std::span<const ChatMessage> messages, size_t tokens_max = kContextTokensMax,
                                         const ChatExtras& extras = {});

}  // namespace slipstream
