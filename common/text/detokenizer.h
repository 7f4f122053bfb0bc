// Turns a stream of ids into a stream of text that never ends inside a UTF-8 character. One per output; not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "common/text/tokenizer.h"

namespace slipstream {

class Detokenizer {
 public:
  explicit Detokenizer(Tokenizer tokenizer) : tokenizer_(std::move(tokenizer)) {}
  // The text that became certain with this id; "" while a character is incomplete. The concatenation of all pieces, flush()
  // included, equals Tokenizer::decode of all ids with skip_special, invalid bytes as U+FFFD.
  Result<std::string> push(TokenId id);
  std::string flush();

 private:
  Tokenizer tokenizer_;
  std::vector<TokenId> pending_;  // ids whose text is not all out yet
  std::string shown_;             // what of pending_'s text is out
};

}  // namespace slipstream
