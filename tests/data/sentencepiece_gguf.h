// The tokenizers of tests/data/sentencepiece in GGUF: their words alone, or in a small random
// Llama.
#pragma once

#include <bit>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/checkpoint/gguf/file.h"
#include "common/checkpoint/gguf/tokenizer.h"
#include "common/text/tokenizer.h"
#include "tests/data/gguf_writer.h"

namespace slipstream {

// name: "with_bytes", "no_prefix", "without" or "gemma" (sentencepiece/README.md). By value, so
// that a loop over a part of it holds it.
inline nlohmann::json sentencepiece_golden(const std::string& name) {
  const auto file = std::filesystem::path(SLIPSTREAM_SOURCE_FOLDER) / "tests/data/sentencepiece/golden.json";
  return nlohmann::json::parse(std::ifstream(file)).at(name);
}

inline void add_sentencepiece_words(GgufWriter& writer, const nlohmann::json& golden) {
  writer.text("tokenizer.ggml.model", "llama").text("tokenizer.ggml.pre", "default");
  writer.texts("tokenizer.ggml.tokens", golden.at("tokens")).f32s("tokenizer.ggml.scores", golden.at("scores"));
  writer.i32s("tokenizer.ggml.token_type", golden.at("types")).flag("tokenizer.ggml.add_space_prefix", golden.at("prefix"));
  const auto special = [&](const char* key, const char* name, uint32_t usual) {
    writer.u32(std::string("tokenizer.ggml.") + key + "_token_id", golden.value(name, usual));
  };
  special("unknown", "unknown", 0);
  special("bos", "begin", 1);
  special("eos", "end", 2);
}

// The tokenizer out of a GGUF file that has nothing else. path: where it may be written.
inline Tokenizer sentencepiece_tokenizer(const std::string& name, const std::filesystem::path& path) {
  GgufWriter writer;
  add_sentencepiece_words(writer, sentencepiece_golden(name));
  std::ofstream(path, std::ios::binary) << writer.bytes();
  const GgufFile file = GgufFile::open(path).value();
  return Tokenizer::parse(gguf_tokenizer_json(file).value(), name).value();
}

// A Llama of two layers with such words and random weights, which are the same in every run.
class RandomLlama {
 public:
  explicit RandomLlama(const std::string& words) {
    const nlohmann::json golden = sentencepiece_golden(words);
    const auto tokens = golden.at("tokens").size();
    writer.text("general.architecture", "llama").u32("llama.block_count", kLayers).u32("llama.context_length", 1024);
    writer.u32("llama.embedding_length", kHidden).u32("llama.feed_forward_length", 2 * kHidden);
    writer.u32("llama.attention.head_count", 4).u32("llama.attention.head_count_kv", 2);
    writer.f32("llama.attention.layer_norm_rms_epsilon", 1e-5F);
    add_sentencepiece_words(writer, golden);
    writer.text(
        "tokenizer.chat_template",
        "{{ bos_token }}{% for message in messages %}[{{ message.role }}] {{ message.content }}{{ eos_token }}{% endfor %}");
    matrix("token_embd.weight", tokens, kHidden);
    matrix("output.weight", tokens, kHidden);
    norm("output_norm.weight");
    for (uint32_t layer = 0; layer < kLayers; ++layer) add_layer("blk." + std::to_string(layer) + ".");
  }

  std::filesystem::path write(const std::filesystem::path& file) const {
    std::ofstream(file, std::ios::binary) << writer.bytes();
    return file;
  }

  GgufWriter writer;

 private:
  static constexpr uint32_t kLayers = 2, kHidden = 32, kBf16 = 30, kF32 = 0;

  void add_layer(const std::string& at) {
    norm(at + "attn_norm.weight");
    norm(at + "ffn_norm.weight");
    matrix(at + "attn_q.weight", kHidden, kHidden);
    matrix(at + "attn_k.weight", kHidden / 2, kHidden);
    matrix(at + "attn_v.weight", kHidden / 2, kHidden);
    matrix(at + "attn_output.weight", kHidden, kHidden);
    matrix(at + "ffn_gate.weight", uint64_t{2} * kHidden, kHidden);
    matrix(at + "ffn_up.weight", uint64_t{2} * kHidden, kHidden);
    matrix(at + "ffn_down.weight", kHidden, uint64_t{2} * kHidden);
  }
  void norm(const std::string& name) {
    std::string bytes;
    for (uint32_t i = 0; i < kHidden; ++i) bytes += GgufWriter::raw(1.0F);
    writer.tensor(name, kF32, {kHidden}, bytes);
  }
  // Numbers of which a product has the size of its factors.
  void matrix(const std::string& name, uint64_t rows, uint64_t cols) {
    std::string bytes;
    for (uint64_t i = 0; i < rows * cols; ++i) {
      const float number = (static_cast<float>(random_() % 2001) - 1000) / 1000 * 0.4F;
      bytes += GgufWriter::raw(static_cast<uint16_t>(std::bit_cast<uint32_t>(number) >> 16));
    }
    writer.tensor(name, kBf16, {rows, cols}, bytes);
  }

  std::mt19937 random_{3};
};

}  // namespace slipstream
