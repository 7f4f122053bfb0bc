// Converts the tokenizer and the chat template in a GGUF file's metadata to the files of a Hugging
// Face folder, so that common/text reads both kinds of models in the same way.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/checkpoint/gguf/file.h"

namespace slipstream {

// The text of a tokenizer.json.
//
//   pre-tokenizer           GGUF has only its name. llama-bpe, qwen2 and smollm are known, as the
//                           models' own tokenizer.json files define them; others are errors.
//   control tokens          become special tokens
//   user-defined tokens     become added tokens: found in any text, but not special
//   unused tokens           are left out
//   add_bos_token           becomes the post-processor, which says what stands before a completion's
//                           prompt; the chat template writes the beginning of a chat
//
// SentencePiece's: see sentence_piece.h.
Result<std::string> gguf_tokenizer_json(const GgufFile& file);

// The text of a tokenizer_config.json: the chat template, and the special tokens that it may use by
// name. An error if the file has no chat template.
Result<std::string> gguf_tokenizer_config(const GgufFile& file);

}  // namespace slipstream
