// Converts the tokenizer and the chat template in a GGUF file's metadata to the files of a Hugging
// Face folder, so that common/text reads both kinds of models in the same way.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/checkpoint/gguf/file.h"

namespace slipstream {

// The text of a tokenizer.json. tokenizer.ggml.model says which kind it becomes:
//
//   gpt2                    byte-level BPE. GGUF has only the name of the pre-tokenizer. llama-bpe,
//                           qwen2 and smollm are known, as the models' own tokenizer.json files
//                           define them; others are errors.
//   llama                   SentencePiece BPE, as transformers converts it: spaces are "\u2581",
//                           the merges follow from the scores (sentencepiece.h), a character that
//                           is no token becomes the tokens of its bytes. A space is put before a
//                           text and behind every special token, unless add_space_prefix is false.
//   others                  are errors
//
//   control and unknown     become special tokens
//   tokens
//   user-defined tokens     become added tokens: found in any text, but not special
//   unused tokens           are left out
//   add_bos_token           says whether the post-processor puts the beginning-of-sequence token
//                           before a text; where it is absent, llama and llama-bpe do. Chats never
//                           use the post-processor: their template writes the beginning.
Result<std::string> gguf_tokenizer_json(const GgufFile& file);

// The text of a tokenizer_config.json: the chat template, and the special tokens that it may use by
// name. An error if the file has no chat template.
Result<std::string> gguf_tokenizer_config(const GgufFile& file);

}  // namespace slipstream
