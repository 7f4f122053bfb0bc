// Converts a SentencePiece tokenizer in a GGUF file's metadata ("llama": BPE by scores, as Llama 2,
// Mistral and TinyLlama have it) to a tokenizer.json. Private to common/checkpoint/gguf.
#pragma once

#include <nlohmann/json.hpp>

#include "common/base/result.h"
#include "common/checkpoint/gguf/file.h"

namespace slipstream {

// The whole tokenizer.json. It gives each text the tokens that SentencePiece gives it:
//
//   spaces      become U+2581; one stands before a text, unless add_space_prefix is false
//   merges      SentencePiece joins the two neighbours whose joint token has the highest score. So
//               every way to make a token of two others is a merge, ranked by its score, in the
//               order of transformers 4.57 (generate_merges())
//   the rest    becomes byte tokens ("<0x0A>"), where the vocabulary has all 256 of them, or the
//               unknown token
//
// Texts that are normalised first (precompiled_charsmap, remove_extra_whitespaces) are refused.
Result<nlohmann::json> sentence_piece_json(const GgufFile& file);

}  // namespace slipstream
