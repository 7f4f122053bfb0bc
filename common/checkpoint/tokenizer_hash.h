// Hashes a tokenizer by what it does and not by how its file is written.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "common/base/result.h"

namespace slipstream {

// XXH3-64 of a tokenizer.json. Two tokenizers with the same hash give every text the same ids, and
// every id the same bytes.
//
//   counts            tokens, merges, added tokens, normalizer, pre-tokenizer, the model's switches
//   does not count    how it is written: order of keys, white space, merges as pairs or as texts,
//                     members that have their default value
//   does not count    what this product does not use: post-processor, padding, truncation, offsets
//
// Never 0. `what` names the text in errors.
Result<uint64_t> hash_tokenizer_json(std::span<const std::byte> json, const std::string& what);

}  // namespace slipstream
