// Text <-> token ids over the Rust crate `tokenizers`, behind a C ABI (rust/). Immutable after
// load; thread-safe; copies share one table. Byte-level BPE only (GPT-2, Llama 3, SmolLM, Qwen):
// other kinds are refused at load.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace slipstream {

class Tokenizer {
 public:
  static Result<Tokenizer> load(const std::filesystem::path& tokenizer_json);
  // From the text of such a file; `what` names it in errors.
  static Result<Tokenizer> parse(std::string_view json, const std::string& what);

  // Text must be UTF-8. Special tokens written in the text ("<|im_end|>") become their ids only if
  // parse_special; a chat template's output needs it, a user's words never do (chat_prompt.h keeps
  // the two apart).
  Result<std::vector<TokenId>> encode(std::string_view text, bool parse_special) const;
  // As encode with parse_special, but each `mark` is taken out once the special tokens were found:
  // what a mark interrupts ("<" mark "|im_end|>") stays text. The mark is one Unicode character.
  Result<std::vector<TokenId>> encode_marked(std::string_view text, char32_t mark) const;

  // The bytes that these ids stand for; may begin or end inside a UTF-8 character. Special tokens
  // give nothing if skip_special.
  Result<std::string> decode(std::span<const TokenId> ids, bool skip_special) const;
  // The bytes of one id, valid as long as this tokenizer; an error if it is outside [0,
  // vocabulary).
  Result<std::string_view> piece(TokenId id) const;
  bool is_special(TokenId id) const;  // false outside the vocabulary

  // A text of so many bytes has at least this many tokens, since no token is longer than the
  // longest. Costs nothing, where encode takes about 0.6 us and 180 bytes of memory for each byte
  // of text.
  size_t tokens_at_least(size_t text_bytes) const;

  std::optional<TokenId> id(std::string_view token) const;  // as tokenizer.json spells it
  std::span<const std::string> specials() const;            // the special tokens as they are written, in no order
  int32_t vocabulary() const;                               // ids are in [0, vocabulary)

 private:
  struct Handle;
  explicit Tokenizer(std::shared_ptr<const Handle> handle) : handle_(std::move(handle)) {}
  Result<std::vector<TokenId>> encode(std::string_view text, bool parse_special, char32_t mark) const;

  std::shared_ptr<const Handle> handle_;
};

}  // namespace slipstream
