// Turns a stream of token ids into a stream of text whose pieces never end inside a UTF-8
// character. Use one for each output; not thread-safe.
//
// A byte-level token always stands for the same bytes. So only an incomplete character is held back
// (3 bytes at most), and the time of push() depends on the length of its token only.
#pragma once

#include <string>

#include "common/text/tokenizer.h"

namespace slipstream {

class Detokenizer {
 public:
  explicit Detokenizer(Tokenizer tokenizer) : tokenizer_(std::move(tokenizer)) {}
  // The text that this id completes: "" inside a character, and for a special token that is not
  // shown. All pieces together, with that of flush(), equal Tokenizer::decode(ids, skip_special)
  // with each invalid byte sequence replaced by U+FFFD. An error if the id is outside the
  // vocabulary.
  Result<std::string> push(TokenId id, bool shows_special = false);
  // Call it at the end of the output: an incomplete character becomes U+FFFD.
  std::string flush();

 private:
  Tokenizer tokenizer_;
  std::string pending_;  // the first bytes of an incomplete character
};

}  // namespace slipstream
