// Grammars over a small tokenizer: byte-level BPE, trained on a little text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/grammar/grammar.h"

namespace slipstream {

inline const Tokenizer& small_tokenizer() {
  static const Tokenizer tokenizer =
      *Tokenizer::load(std::filesystem::path(SLIPSTREAM_SOURCE_FOLDER) / "tests/unit/common/text/data/tokenizer.json");
  return tokenizer;
}

inline constexpr TokenId kSmallEnd = 2;     // of small_tokenizer(): it ends an answer
inline constexpr int32_t kPaddingRows = 5;  // of the model's logits, beyond the tokenizer's vocabulary

inline int32_t small_vocabulary() { return small_tokenizer().vocabulary() + kPaddingRows; }

inline const Grammars& small_grammars() {
  static const Grammars grammars = *Grammars::make(small_tokenizer(), std::vector{kSmallEnd}, small_vocabulary());
  return grammars;
}

inline Grammar grammar_of(GrammarForm form, std::string_view text) {
  return *small_grammars().compile({form, std::string(text)});
}

inline std::vector<TokenId> small_ids(std::string_view text) { return *small_tokenizer().encode(text, false); }
inline std::string small_text(const std::vector<TokenId>& ids) { return *small_tokenizer().decode(ids, true); }

}  // namespace slipstream
