#include "common/checkpoint/fingerprint.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include <xxhash.h>

#include "common/checkpoint/mapped_file.h"
#include "common/checkpoint/safetensors.h"

namespace slipstream {
namespace {

uint64_t not_zero(uint64_t hash) { return std::max<uint64_t>(hash, 1); }  // 0 stands for "none" in a Fingerprint

// All that changes a logit, as one list of words. Both structs are taken apart as a whole, so that a new field fails to compile
// here until somebody decides.
std::vector<uint32_t> words_of(const LlamaConfig& config) {
  const auto word = [](float value) { return std::bit_cast<uint32_t>(value); };
  [[maybe_unused]] const auto& [hidden, intermediate, layers, heads, kv_heads, head_size, vocabulary, context_max, rms_eps,
                                rope_theta, llama3, tied_embeddings, qkv_bias, out_bias, head_norms, eos_ids] = config;
  std::vector<uint32_t> words{word(rms_eps), word(rope_theta), llama3.has_value(), tied_embeddings,
                              qkv_bias,      out_bias,         head_norms};
  for (const int32_t size : {hidden, intermediate, layers, heads, kv_heads, head_size, vocabulary}) {
    words.push_back(static_cast<uint32_t>(size));
  }
  if (llama3) {
    const auto& [factor, low_freq_factor, high_freq_factor, original_context] = *llama3;
    words.insert(words.end(),
                 {word(factor), word(low_freq_factor), word(high_freq_factor), static_cast<uint32_t>(original_context)});
  }
  return words;
}

}  // namespace

Result<uint64_t> hash_tokenizer(const std::filesystem::path& folder) {
  TRY(const MappedFile file, MappedFile::open(folder / "tokenizer.json"));
  return not_zero(XXH3_64bits(file.bytes().data(), file.bytes().size()));
}

Result<uint64_t> hash_weights(const std::filesystem::path& folder, const LlamaConfig& config) {
  TRY(const auto paths, weight_files(folder));
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  XXH3_64bits_reset(state.get());
  for (const auto& path : paths) {
    TRY(const MappedFile file, MappedFile::open(path));
    XXH3_64bits_update(state.get(), file.bytes().data(), file.bytes().size());
  }
  const auto words = words_of(config);
  XXH3_64bits_update(state.get(), words.data(), words.size() * sizeof(uint32_t));
  return not_zero(XXH3_64bits_digest(state.get()));
}

}  // namespace slipstream
