// Converts text to token ids and back, over the Rust crate `tokenizers` (rust_bridge.h). Supports
// byte-level BPE (GPT-2, Llama 3, SmolLM, Qwen) and SentencePiece's BPE (Llama 2, Mistral,
// TinyLlama); other kinds are refused at load. Immutable after load; thread-safe; copies share one
// table.
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

struct SlipstreamTokenizer;  // rust_bridge.h

namespace slipstream {

class Tokenizer {
 public:
  static Result<Tokenizer> load(const std::filesystem::path& tokenizer_json);
  // The same from the text of a tokenizer.json; `what` names it in errors.
  static Result<Tokenizer> parse(std::string_view json, const std::string& what);

  // Text must be UTF-8. With parse_special, special tokens written in the text ("<|im_end|>")
  // become their ids; without, they are text. The output of a chat template needs parse_special,
  // and a user's text must not have it (chat_prompt.h solves this for prompts that hold both).
  Result<std::vector<TokenId>> encode(std::string_view text, bool parse_special) const;
  // As encode with parse_special, but each `mark` is removed after the special tokens were found.
  // So a special token with a mark inside ("<" mark "|im_end|>") becomes text. mark: one Unicode
  // character.
  Result<std::vector<TokenId>> encode_marked(std::string_view text, char32_t mark) const;

  // The ids of a text that goes on behind another: without the space that SentencePiece puts before
  // a text. Special tokens are text.
  Result<std::vector<TokenId>> encode_inside(std::string_view text) const;

  // What tokenizer.json puts before a text that no chat template is put around: the token that
  // begins a sequence, for models that were trained with one.
  std::vector<TokenId> prefix() const;

  // The bytes of these ids, which may begin or end inside a UTF-8 character. With skip_special,
  // special tokens are left out. An error if an id is outside the vocabulary. They stand for the
  // same bytes wherever they are, so those of an answer follow those of its prompt.
  Result<std::string> decode(std::span<const TokenId> ids, bool skip_special) const;
  // The text that begins with these ids. SentencePiece puts a space before a text, which is not
  // part of it. Special tokens are kept.
  Result<std::string> whole_text(std::span<const TokenId> ids) const;
  bool drops_first_space() const;  // whether whole_text does
  // The bytes of one id, valid while this tokenizer or a copy of it lives. An error if the id is
  // outside the vocabulary.
  Result<std::string_view> piece(TokenId id) const;
  bool is_special(TokenId id) const;  // false outside the vocabulary

  // A lower bound on the tokens of a text of this size: its bytes / those of the longest token.
  // Takes constant time, whereas encode takes about 0.6 us and 180 bytes of memory per byte of
  // text.
  size_t tokens_at_least(size_t text_bytes) const;

  std::optional<TokenId> id(std::string_view token) const;  // of a token as tokenizer.json spells it
  std::span<const std::string> specials() const;            // the special tokens as written in texts, in no order
  int32_t vocabulary() const;                               // ids are in [0, vocabulary)
  const SlipstreamTokenizer* rust() const;                  // for common/grammar; lives as long as this or a copy

 private:
  struct Handle;
  explicit Tokenizer(std::shared_ptr<const Handle> handle) : handle_(std::move(handle)) {}
  Result<std::vector<TokenId>> encode(std::string_view text, bool parse_special, char32_t mark) const;

  std::shared_ptr<const Handle> handle_;
};

}  // namespace slipstream
