// Hashes with which two processes find out whether they have the same model: XXH3-64 over weights
// and settings. A model is a Hugging Face folder or a GGUF file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "common/base/result.h"
#include "common/checkpoint/llama_config.h"

namespace slipstream {

// The hash of the model's tokenizer (tokenizer_hash.h). A folder and a GGUF file whose tokenizers
// give every text the same ids have the same hash. Never 0.
Result<uint64_t> hash_tokenizer(const std::filesystem::path& model);

// The hash of everything that changes a logit: the weights as stored (a folder's files, or a GGUF
// file's tensors, in the order of their names), then the fields of `config`, but not context_max
// and eos_ids. Never 0.
// read: called after each piece with its number of bytes, to show progress.
Result<uint64_t> hash_weights(const std::filesystem::path& model, const LlamaConfig& config,
                              const std::function<void(uint64_t)>& read = {});

}  // namespace slipstream
