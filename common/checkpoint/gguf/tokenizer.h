// The tokenizer and the chat template out of a GGUF file's metadata, in the words of a Hugging Face
// folder's files.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/checkpoint/gguf/file.h"

namespace slipstream {

// As tokenizer.json. A GGUF file names its pre-tokenizer only, so those that are known are written
// out here as the models' own tokenizer.json files have them: llama-bpe, qwen2 and smollm; others
// are refused by name. Control tokens become special ones, user-defined ones are found in any text,
// unused ones are left out. `add_bos_token` needs nothing: a chat begins as its template says, as
// with a folder, whose post-processor is not run either.
Result<std::string> gguf_tokenizer_json(const GgufFile& file);

// As tokenizer_config.json: the chat template, and the special tokens that it may ask for by name.
Result<std::string> gguf_tokenizer_config(const GgufFile& file);

}  // namespace slipstream
