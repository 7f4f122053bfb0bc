#include "common/text/detokenizer.h"

#include <utility>

#include "common/text/utf8.h"

namespace slipstream {

Result<std::string> Detokenizer::push(TokenId id, bool shows_special) {
  TRY(std::string_view piece, tokenizer_.piece(id));
  const bool special = tokenizer_.is_special(id);
  if (special && !shows_special) return std::string();  // an incomplete character before it stays pending
  if (may_drop_ && !special && !piece.empty()) {
    may_drop_ = false;
    dropped_ = piece.starts_with(' ') ? 1 : 0;
    piece.remove_prefix(static_cast<size_t>(dropped_));
  }
  pending_ += piece;
  return take_utf8(pending_);
}

std::string Detokenizer::flush() { return lossy_utf8(std::exchange(pending_, {})); }

}  // namespace slipstream
