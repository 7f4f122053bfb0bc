// Turns a stream of ids into a stream of text that never ends inside a UTF-8 character. One per
// output; not thread-safe.
//
// A byte-level token is a fixed string of bytes, so nothing but an incomplete character (at most 3
// bytes) is ever held back, and push() costs the length of one token however long the output is.
#pragma once

#include <string>

#include "common/text/tokenizer.h"

namespace slipstream {

class Detokenizer {
 public:
  explicit Detokenizer(Tokenizer tokenizer) : tokenizer_(std::move(tokenizer)) {}
  // The text that became certain with this id; "" while a character is incomplete. The
  // concatenation of all pieces, flush() included, equals Tokenizer::decode of all ids with
  // skip_special, invalid bytes as U+FFFD.
  Result<std::string> push(TokenId id);
  std::string flush();

 private:
  Tokenizer tokenizer_;
  std::string pending_;  // the first bytes of a character whose rest has not come
};

}  // namespace slipstream
