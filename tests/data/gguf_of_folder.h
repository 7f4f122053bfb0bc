// Converts a Hugging Face folder to a GGUF file, in a chosen format, as llama.cpp's converter
// would.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/base/check.h"
#include "common/checkpoint/checkpoint.h"
#include "common/checkpoint/dequantise.h"
#include "common/checkpoint/gguf/names.h"
#include "common/checkpoint/llama_config.h"
#include "tests/data/gguf_writer.h"

namespace slipstream {

enum class GgmlType : uint32_t { f32 = 0, f16 = 1, q4_0 = 2, q4_1 = 3, q8_0 = 8, bf16 = 30 };

class GgufOfFolder {
 public:
  // pre: name of the pre-tokenizer. weights: file or folder of the weights; empty: the folder
  // itself.
  GgufOfFolder(const std::filesystem::path& folder, GgmlType type, const std::string& pre, std::filesystem::path weights = {})
      : config_(read_llama_config(folder).value()),
        checkpoint_(Checkpoint::open(weights.empty() ? folder : weights).value()),
        type_(type) {
    const auto json = nlohmann::json::parse(std::ifstream(folder / "config.json"));
    architecture_ = config_.head_norms ? "qwen3" : json.at("architectures").at(0) == "Qwen2ForCausalLM" ? "qwen2" : "llama";
    add_config();
    if (std::filesystem::exists(folder / "tokenizer.json")) {
      add_words(writer, folder, pre);
    } else {
      name_tokens();
    }
    CHECK(config_.eos_ids.size() <= 2, "{} end tokens", config_.eos_ids.size());
    writer.u32("tokenizer.ggml.eos_token_id", static_cast<uint32_t>(config_.eos_ids.front()));
    writer.u32("tokenizer.ggml.eot_token_id", static_cast<uint32_t>(config_.eos_ids.back()));
    add_weights();
  }

  // Writes tokens, merges, token types and the chat template only.
  static void add_words(GgufWriter& writer, const std::filesystem::path& folder, const std::string& pre) {
    const auto tokenizer = nlohmann::json::parse(std::ifstream(folder / "tokenizer.json"));
    std::vector<std::string> tokens, merges;
    std::vector<int32_t> types;
    const auto put = [&](size_t id, const std::string& token, int32_t type) {
      if (tokens.size() <= id) tokens.resize(id + 1), types.resize(id + 1, 5);
      tokens[id] = token;
      types[id] = type;
    };
    for (const auto& [token, id] : tokenizer.at("model").at("vocab").items()) put(id.get<size_t>(), token, 1);
    for (const auto& added : tokenizer.at("added_tokens")) {
      put(added.at("id").get<size_t>(), added.at("content"), added.at("special") ? 3 : 4);
    }
    for (const auto& merge : tokenizer.at("model").at("merges")) {
      merges.push_back(merge.is_string() ? merge.get<std::string>()
                                         : merge.at(0).get<std::string>() + " " + merge.at(1).get<std::string>());
    }
    writer.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", pre);
    writer.texts("tokenizer.ggml.tokens", tokens).i32s("tokenizer.ggml.token_type", types);
    writer.texts("tokenizer.ggml.merges", merges);
    add_template(writer, folder, tokens);
  }

  std::filesystem::path write(const std::filesystem::path& file) const {
    std::ofstream(file, std::ios::binary) << writer.bytes();
    return file;
  }

  GgufWriter writer;

 private:
  static void add_template(GgufWriter& writer, const std::filesystem::path& folder, const std::vector<std::string>& tokens) {
    const auto config = nlohmann::json::parse(std::ifstream(folder / "tokenizer_config.json"));
    std::ifstream jinja(folder / "chat_template.jinja", std::ios::binary);
    writer.text("tokenizer.chat_template",
                jinja ? std::string(std::istreambuf_iterator<char>(jinja), {}) : config.at("chat_template").get<std::string>());
    for (const auto& [key, field] : {std::pair("bos_token", "bos"), std::pair("unk_token", "unknown")}) {
      if (!config.contains(key)) continue;
      const std::string token = config[key].is_string() ? config[key] : config[key].at("content");
      const auto id = static_cast<uint32_t>(std::ranges::find(tokens, token) - tokens.begin());
      writer.u32(std::string("tokenizer.ggml.") + field + "_token_id", id);
    }
  }

  // For a folder without a tokenizer.
  void name_tokens() {
    std::vector<std::string> tokens;
    for (int32_t id = 0; id < config_.vocabulary; ++id) tokens.push_back(fmt::format("t{}", id));
    writer.text("tokenizer.ggml.model", "gpt2").texts("tokenizer.ggml.tokens", tokens);
  }

  void add_config() {
    const std::string at = architecture_ + ".";
    writer.text("general.architecture", architecture_).u32("general.alignment", 32);
    writer.u32(at + "block_count", static_cast<uint32_t>(config_.layers));
    writer.u32(at + "context_length", static_cast<uint32_t>(config_.context_max));
    writer.u32(at + "embedding_length", static_cast<uint32_t>(config_.hidden));
    writer.u32(at + "feed_forward_length", static_cast<uint32_t>(config_.intermediate));
    writer.u32(at + "attention.head_count", static_cast<uint32_t>(config_.heads));
    writer.u32(at + "attention.head_count_kv", static_cast<uint32_t>(config_.kv_heads));
    writer.u32(at + "attention.key_length", static_cast<uint32_t>(config_.head_size));
    writer.u32(at + "attention.value_length", static_cast<uint32_t>(config_.head_size));
    writer.f32(at + "attention.layer_norm_rms_epsilon", config_.rms_eps);
    writer.f32(at + "rope.freq_base", config_.rope_theta);
    if (config_.attention_window > 0) {
      writer.u32(at + "attention.sliding_window", static_cast<uint32_t>(config_.attention_window));
    }
    if (config_.yarn) {
      writer.text(at + "rope.scaling.type", "yarn").f32(at + "rope.scaling.factor", config_.yarn->factor);
      writer.u32(at + "rope.scaling.original_context_length", static_cast<uint32_t>(config_.yarn->original_context));
    }
  }

  void add_weights() {
    add("model.embed_tokens.weight", config_.vocabulary, config_.hidden, 0);
    add("model.norm.weight", 1, config_.hidden, 0);
    if (!config_.tied_embeddings) add("lm_head.weight", config_.vocabulary, config_.hidden, 0);
    for (int32_t layer = 0; layer < config_.layers; ++layer) add_layer(fmt::format("model.layers.{}.", layer));
    if (config_.llama3) add_rope_frequencies();
  }

  void add_layer(const std::string& at) {
    const int32_t q = config_.heads * config_.head_size, kv = config_.kv_heads * config_.head_size;
    const bool paired = architecture_ == "llama";
    for (const std::string kind : {"weight", "bias"}) {
      if (kind == "bias" && !config_.qkv_bias) break;
      const int32_t cols = kind == "weight" ? config_.hidden : 1;
      add(at + "self_attn.q_proj." + kind, q, cols, paired ? config_.heads : 0);
      add(at + "self_attn.k_proj." + kind, kv, cols, paired ? config_.kv_heads : 0);
      add(at + "self_attn.v_proj." + kind, kv, cols, 0);
    }
    add(at + "self_attn.o_proj.weight", config_.hidden, q, 0);
    if (config_.out_bias) add(at + "self_attn.o_proj.bias", config_.hidden, 1, 0);
    if (config_.head_norms) {
      add(at + "self_attn.q_norm.weight", 1, config_.head_size, 0);
      add(at + "self_attn.k_norm.weight", 1, config_.head_size, 0);
    }
    add(at + "input_layernorm.weight", 1, config_.hidden, 0);
    add(at + "post_attention_layernorm.weight", 1, config_.hidden, 0);
    add(at + "mlp.gate_proj.weight", config_.intermediate, config_.hidden, 0);
    add(at + "mlp.up_proj.weight", config_.intermediate, config_.hidden, 0);
    add(at + "mlp.down_proj.weight", config_.hidden, config_.intermediate, 0);
  }

  // heads > 0: places rotary partners next to each other, as LlamaModel.permute of llama.cpp's
  // converter does.
  void add(const std::string& name, int32_t rows, int32_t cols, int32_t heads) {
    const HostMatrix matrix = checkpoint_.matrix(name, rows, cols).value();
    std::vector<std::vector<float>> values(static_cast<size_t>(rows), std::vector<float>(static_cast<size_t>(cols)));
    for (int32_t row = 0; row < rows; ++row) read_row(matrix, row, values[static_cast<size_t>(row)]);
    if (heads > 0) {
      auto paired = values;
      const int32_t size = rows / heads;
      for (int32_t h = 0; h < heads; ++h) {
        for (int32_t half = 0; half < 2; ++half) {
          for (int32_t i = 0; i < size / 2; ++i) {
            paired[static_cast<size_t>(h * size + 2 * i + half)] =
                values[static_cast<size_t>(h * size + half * (size / 2) + i)];
          }
        }
      }
      values = std::move(paired);
    }
    const bool vector = rows == 1 || cols == 1;
    const GgmlType type = vector ? GgmlType::f32 : type_;
    std::string bytes;
    for (const auto& row : values) bytes += stored(row, type);
    const auto r = static_cast<uint64_t>(rows), c = static_cast<uint64_t>(cols);
    writer.tensor(*gguf_name(name, false), static_cast<uint32_t>(type), vector ? std::vector{r * c} : std::vector{r, c}, bytes);
  }

  static uint16_t f16(float value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }

  static std::string stored(const std::vector<float>& row, GgmlType type) {
    std::string bytes;
    if (type == GgmlType::f32 || type == GgmlType::f16 || type == GgmlType::bf16) {
      for (const float value : row) {
        if (type == GgmlType::f32) bytes += GgufWriter::raw(value);
        if (type == GgmlType::f16) bytes += GgufWriter::raw(f16(value));
        if (type == GgmlType::bf16) bytes += GgufWriter::raw(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
      }
      return bytes;
    }
    CHECK(row.size() % 32 == 0, "{} numbers are no whole blocks", row.size());
    for (size_t at = 0; at < row.size(); at += 32) bytes += block({row.data() + at, 32}, type);
    return bytes;
  }

  // Rounds to the nearest step. It does not choose the scale as llama.cpp's quantiser does, since
  // that does not matter here.
  static std::string block(std::span<const float> row, GgmlType type) {
    const auto [least, most] = std::ranges::minmax(row);
    const float size = std::max(std::abs(least), std::abs(most));
    const float steps = type == GgmlType::q8_0 ? size / 127 : type == GgmlType::q4_0 ? size / 7 : (most - least) / 15;
    const float from = type == GgmlType::q4_1 ? least : 0;
    const auto number = [&](size_t i, long lowest, long highest) {
      return steps == 0 ? 0 : std::clamp(std::lround((row[i] - from) / steps), lowest, highest);
    };
    std::string bytes = GgufWriter::raw(f16(steps));
    if (type == GgmlType::q4_1) bytes += GgufWriter::raw(f16(from));
    if (type == GgmlType::q8_0) {
      for (size_t i = 0; i < 32; ++i) bytes += static_cast<char>(number(i, -127, 127));
      return bytes;
    }
    for (size_t i = 0; i < 16; ++i) {
      const auto nibble = [&](size_t at) { return type == GgmlType::q4_1 ? number(at, 0, 15) : number(at, -8, 7) + 8; };
      bytes += static_cast<char>(nibble(i) | nibble(i + 16) << 4);
    }
    return bytes;
  }

  // Writes Llama 3.1's rope scaling as llama.cpp's converter does: the divisor of each frequency.
  void add_rope_frequencies() {
    const auto& [factor, low, high, original] = *config_.llama3;
    std::string bytes;
    for (int32_t i = 0; i < config_.head_size / 2; ++i) {
      const float exponent = static_cast<float>(2 * i) / static_cast<float>(config_.head_size);
      const float wave = 2 * std::numbers::pi_v<float> * std::pow(config_.rope_theta, exponent);
      const auto length = static_cast<float>(original);
      const float smooth = std::clamp((length / wave - low) / (high - low), 0.0F, 1.0F);
      bytes += GgufWriter::raw(1 / ((1 - smooth) / factor + smooth));
    }
    writer.tensor("rope_freqs.weight", 0, {static_cast<uint64_t>(config_.head_size / 2)}, bytes);
  }

  LlamaConfig config_;
  Checkpoint checkpoint_;
  GgmlType type_;
  std::string architecture_;
};

}  // namespace slipstream
