#include "common/text/detokenizer.h"

#include <utility>

#include "common/text/utf8.h"

namespace slipstream {

Result<std::string> Detokenizer::push(TokenId id, bool shows_special) {
  TRY(const std::string_view piece, tokenizer_.piece(id));
  if (!shows_special && tokenizer_.is_special(id)) return std::string();  // an incomplete character before it stays pending
  pending_ += piece;
  return take_utf8(pending_);
}

std::string Detokenizer::flush() { return lossy_utf8(std::exchange(pending_, {})); }

}  // namespace slipstream
