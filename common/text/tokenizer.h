// Text <-> token ids over the Rust crate `tokenizers`, behind a C ABI (rust/). Immutable after load; thread-safe.
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

  // Special tokens written in the text ("<|im_end|>") become their ids only if parse_special; a chat template's output
  // needs it, a user's words never do (chat_template.h renders them apart).
  Result<std::vector<TokenId>> encode(std::string_view text, bool parse_special) const;
  // The bytes that these ids stand for; may begin or end inside a UTF-8 character. Special tokens give nothing if skip_special.
  Result<std::string> decode(std::span<const TokenId> ids, bool skip_special) const;
  std::optional<TokenId> id(std::string_view token) const;
  int32_t vocabulary() const;     // ids are in [0, vocabulary)
  uint64_t hash() const;          // XXH3 of tokenizer.json's bytes

 private:
  struct Handle;
  std::shared_ptr<const Handle> handle_;
};

}  // namespace slipstream
