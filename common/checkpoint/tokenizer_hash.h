// What two tokenizers have in common that give every text the same ids.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "common/base/result.h"

namespace slipstream {

// XXH3-64 of all in a tokenizer.json that changes an id or what an id stands for: tokens, merges,
// added tokens, normalizer and pre-tokenizer, and not how they are written down (order of keys,
// white space, merges as pairs or joined, defaults spelt out). What is not used here does not
// count: post-processor, padding, truncation, offsets. Never 0. `what` names the text in errors.
Result<uint64_t> hash_tokenizer_json(std::span<const std::byte> json, const std::string& what);

}  // namespace slipstream
