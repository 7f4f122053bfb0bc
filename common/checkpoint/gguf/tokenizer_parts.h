// What the kinds of tokenizers of GGUF files have in common. Private to common/checkpoint/gguf.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/base/result.h"
#include "common/checkpoint/gguf/file.h"

namespace slipstream {

// tokenizer.ggml.token_type.
enum class GgufTokenType : int64_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct GgufVocabulary {
  std::vector<std::string_view> tokens;  // by id, of valid UTF-8 but for unused ones
  std::vector<GgufTokenType> types;      // by id

  // The tokens that are in use: token -> id.
  nlohmann::json ids() const;
  // Those that are found in a text before it is split into words: control tokens and the unknown
  // one, which are special, and user-defined ones.
  nlohmann::json added() const;
};

// may_be: the types that a tokenizer of this kind may have; `kind` names it in errors.
Result<GgufVocabulary> read_gguf_vocabulary(const GgufFile& file, std::span<const GgufTokenType> may_be, std::string_view kind);

// The post-processor that puts the beginning-of-sequence token before a text, or null. absent:
// whether it does where the file does not say.
Result<nlohmann::json> gguf_post_processor(const GgufFile& file, bool absent);

// A tokenizer.json of a BPE with neither normalizer, pre-tokenizer nor decoder: the callers set
// what theirs has.
nlohmann::json bpe_json(const GgufVocabulary& vocabulary, nlohmann::json merges, nlohmann::json post_processor);

bool valid_utf8(std::string_view text);

}  // namespace slipstream
