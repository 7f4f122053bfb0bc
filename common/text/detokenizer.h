// Turns a stream of token ids into a stream of text whose pieces never end inside a UTF-8
// character. Use one for each output; not thread-safe.
//
// A token always stands for the same bytes. So only an incomplete character is held back (3 bytes
// at most), and the time of push() depends on the length of its token only.
#pragma once

#include <string>

#include "common/text/tokenizer.h"

namespace slipstream {

class Detokenizer {
 public:
  // begins_text: no text comes before these ids, special tokens at most. Then the space that
  // SentencePiece puts before a text is left out, as by Tokenizer::whole_text. An answer that goes
  // on a text keeps it, so that prompt and answer together are the text of their tokens.
  explicit Detokenizer(Tokenizer tokenizer, bool begins_text = false)
      : tokenizer_(std::move(tokenizer)), may_drop_(begins_text && tokenizer_.drops_first_space()) {}
  // The text that this id completes: "" inside a character, and for a special token that is not
  // shown. All pieces together, with that of flush(), equal Tokenizer::decode(ids, skip_special)
  // with each invalid byte sequence replaced by U+FFFD, but for the space that may be left out. An
  // error if the id is outside the vocabulary.
  Result<std::string> push(TokenId id, bool shows_special = false);
  // Call it at the end of the output: an incomplete character becomes U+FFFD.
  std::string flush();

  int32_t dropped() const { return dropped_; }  // characters that were left out at the beginning: 0 or 1

 private:
  Tokenizer tokenizer_;
  bool may_drop_;  // no byte has come yet
  int32_t dropped_ = 0;
  std::string pending_;  // the first bytes of an incomplete character
};

}  // namespace slipstream
