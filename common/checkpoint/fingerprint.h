// Hashes that say whether two processes hold the same model: XXH3-64 over weights and settings. A
// model is a Hugging Face folder or a GGUF file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "common/base/result.h"
#include "common/checkpoint/llama_config.h"

namespace slipstream {

// As tokenizer_hash.h says: equal where every text has the same ids, whether a folder's tokenizer
// or a file's. Never 0.
Result<uint64_t> hash_tokenizer(const std::filesystem::path& model);
// Of the weights as they are stored (a folder's files by name, a GGUF file's tensors by name), then
// of what the config makes of them: all that changes a logit, so neither the length of the context
// nor the end ids. Never 0. read: told after each piece how many bytes it had.
Result<uint64_t> hash_weights(const std::filesystem::path& model, const LlamaConfig& config,
                              const std::function<void(uint64_t)>& read = {});

}  // namespace slipstream
