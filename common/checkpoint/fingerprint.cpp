#include "common/checkpoint/fingerprint.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <tuple>
#include <vector>

#include <xxhash.h>

#include "common/checkpoint/gguf/file.h"
#include "common/checkpoint/gguf/tokenizer.h"
#include "common/checkpoint/mapped_file.h"
#include "common/checkpoint/safetensors.h"
#include "common/checkpoint/tokenizer_hash.h"
#include "common/checkpoint/tokenizer_json.h"

namespace slipstream {
namespace {

constexpr size_t kPieceBytes = size_t{16} << 20;  // between two calls of `read`

// The fields of the config that change a logit, as one list of words. Structured bindings name all
// fields of both structs, so that a new field fails to compile here until its author has decided
// whether it belongs into the hash.
std::vector<uint32_t> words_of(const LlamaConfig& config) {
  const auto word = [](float value) { return std::bit_cast<uint32_t>(value); };
  [[maybe_unused]] const auto& [hidden, intermediate, layers, heads, kv_heads, head_size, vocabulary, context_max,
                                attention_window, full_attention_every, rms_eps, rope_theta, local_rope_theta, rope_divisor,
                                llama3, yarn, rope_divisors, tied_embeddings, qkv_bias, out_bias, head_norms, post_norms, gelu,
                                norm_offset, embedding_scale, score_scale, attention_soft_cap, logits_soft_cap, eos_ids] =
      config;
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
  for (const float divisor : rope_divisors) words.push_back(word(divisor));
  // What most models do not have adds words only where it is there, so that the others keep the
  // hashes that draft heads were trained for. A tag tells them apart.
  if (attention_window > 0) words.insert(words.end(), {'w', static_cast<uint32_t>(attention_window)});
  if (rope_divisor != 1) words.insert(words.end(), {'l', word(rope_divisor)});
  if (yarn) {
    const auto& [factor, beta_fast, beta_slow, attention_factor, original_context, whole_pairs] = *yarn;
    words.insert(words.end(), {'y', word(factor), word(beta_fast), word(beta_slow), word(attention_factor),
                               static_cast<uint32_t>(original_context), whole_pairs});
  }
  if (full_attention_every > 0) words.insert(words.end(), {'f', static_cast<uint32_t>(full_attention_every)});
  if (post_norms || gelu) words.insert(words.end(), {'g', post_norms, gelu});
  for (const auto& [tag, number, usual] :
       {std::tuple('t', local_rope_theta, 0), std::tuple('n', norm_offset, 0), std::tuple('e', embedding_scale, 1),
        std::tuple('s', score_scale, 0), std::tuple('a', attention_soft_cap, 0), std::tuple('c', logits_soft_cap, 0)}) {
    if (number != static_cast<float>(usual)) words.insert(words.end(), {static_cast<uint32_t>(tag), word(number)});
  }
  return words;
}

using State = std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)>;

void update(const State& state, std::span<const std::byte> bytes) {
  XXH3_64bits_update(state.get(), bytes.data(), bytes.size());
}

using OnRead = std::function<void(uint64_t)>;

void update(const State& state, std::span<const std::byte> bytes, const OnRead& read) {
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(kPieceBytes, bytes.size()));
    update(state, piece);
    if (read) read(piece.size());
    bytes = bytes.subspan(piece.size());
  }
}

Result<void> add_folder(const std::filesystem::path& folder, const State& state, const OnRead& read) {
  TRY(const auto paths, weight_files(folder));
  for (const auto& path : paths) {
    TRY(const MappedFile file, MappedFile::open(path));
    update(state, file.bytes(), read);
  }
  return {};
}

// Hashes the tensors and not the whole file, because its other metadata (a chat template, a name)
// changes no logit.
Result<void> add_gguf(const std::filesystem::path& path, const State& state, const OnRead& read) {
  TRY(const GgufFile file, GgufFile::open(path));
  for (const auto& [name, tensor] : file.tensors()) {
    update(state, std::as_bytes(std::span(name)));
    update(state, std::as_bytes(std::span(&tensor.dtype, 1)));
    update(state, std::as_bytes(std::span(tensor.shape)));
    update(state, tensor.bytes, read);
  }
  return {};
}

}  // namespace

Result<uint64_t> hash_tokenizer(const std::filesystem::path& model) {
  if (is_model_file(model)) {
    TRY(const GgufFile file, GgufFile::open(model));
    TRY(const std::string json, gguf_tokenizer_json(file));
    return hash_tokenizer_json(std::as_bytes(std::span(json)), file.what());
  }
  TRY(const auto path, tokenizer_json(model));
  TRY(const MappedFile file, MappedFile::open(path));
  return hash_tokenizer_json(file.bytes(), path.string());
}

Result<uint64_t> hash_weights(const std::filesystem::path& model, const LlamaConfig& config, const OnRead& read) {
  const State state(XXH3_createState(), &XXH3_freeState);
  XXH3_64bits_reset(state.get());
  TRY_VOID(is_model_file(model) ? add_gguf(model, state, read) : add_folder(model, state, read));
  const auto words = words_of(config);
  update(state, std::as_bytes(std::span(words)));
  return std::max<uint64_t>(XXH3_64bits_digest(state.get()), 1);  // 0 stands for "none" in a Fingerprint
}

}  // namespace slipstream
