#include "tools/train/model_folder.h"

#include <cstdlib>
#include <vector>

#include <ATen/core/Tensor.h>
#include <nlohmann/json.hpp>

#include "common/base/write_whole.h"
#include "common/checkpoint/gguf/file.h"
#include "common/checkpoint/gguf/tokenizer.h"
#include "tools/train/bf16_tensors.h"

namespace slipstream::train {
namespace {

// Those of a folder that tell how text becomes tokens; a folder need not have all of them.
constexpr const char* kTextFiles[] = {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
                                      "chat_template.jinja", "generation_config.json"};

// The shortest number that reads back as the same float: 1e-05, and not 9.99999974737875e-06.
double shortest(float value) { return std::strtod(fmt::format("{}", value).c_str(), nullptr); }

struct Architecture {
  const char *name, *type;
};
Architecture architecture_of(const LlamaConfig& config) {
  if (config.head_norms) return {"Qwen3ForCausalLM", "qwen3"};
  if (config.qkv_bias && !config.out_bias) return {"Qwen2ForCausalLM", "qwen2"};
  return {"LlamaForCausalLM", "llama"};
}

nlohmann::ordered_json rope_of(const LlamaConfig& config) {
  nlohmann::ordered_json rope{{"rope_type", config.llama3 ? "llama3" : "default"}, {"rope_theta", shortest(config.rope_theta)}};
  if (config.llama3) {
    rope["factor"] = shortest(config.llama3->factor);
    rope["low_freq_factor"] = shortest(config.llama3->low_freq_factor);
    rope["high_freq_factor"] = shortest(config.llama3->high_freq_factor);
    rope["original_max_position_embeddings"] = config.llama3->original_context;
  }
  return rope;
}

Result<void> write_text(const std::filesystem::path& path, const std::string& text) {
  return replace_whole(path.string(), text, "the model's file");
}

Result<void> write_text_files(const std::filesystem::path& folder, const std::filesystem::path& source) {
  if (is_model_file(source)) {
    TRY(const GgufFile file, GgufFile::open(source));
    TRY(const std::string tokenizer, gguf_tokenizer_json(file));
    TRY(const std::string config, gguf_tokenizer_config(file));
    TRY_VOID(write_text(folder / "tokenizer.json", tokenizer));
    return write_text(folder / "tokenizer_config.json", config);
  }
  for (const char* name : kTextFiles) {
    std::error_code error;
    if (!std::filesystem::exists(source / name, error)) continue;
    std::filesystem::copy_file(source / name, folder / name, std::filesystem::copy_options::overwrite_existing, error);
    if (error) return fail("cannot copy {} to {}: {}", (source / name).string(), folder.string(), error.message());
  }
  return {};
}

}  // namespace

Result<void> check_trainable(const LlamaConfig& config) {
  if (config.attention_window > 0 || config.yarn || config.rope_divisor != 1) {
    return fail(
        "a model with a sliding window, or with linear or YaRN scaling of RoPE, cannot be trained: the trainer computes "
        "neither");
  }
  if (config.post_norms) {
    return fail("a Gemma cannot be trained: the trainer computes neither its norms behind each block nor its GELU");
  }
  return {};
}

Result<std::string> hf_config_json(const LlamaConfig& config) {
  if (!config.rope_divisors.empty()) {
    return fail(
        "the model's file has rotary frequencies of its own, which no config.json can say: train from its Hugging "
        "Face folder");
  }
  TRY_VOID(check_trainable(config));
  const auto [name, type] = architecture_of(config);
  const nlohmann::ordered_json json{{"architectures", nlohmann::ordered_json::array({name})},
                                    {"model_type", type},
                                    {"hidden_act", "silu"},
                                    {"hidden_size", config.hidden},
                                    {"intermediate_size", config.intermediate},
                                    {"num_hidden_layers", config.layers},
                                    {"num_attention_heads", config.heads},
                                    {"num_key_value_heads", config.kv_heads},
                                    {"head_dim", config.head_size},
                                    {"vocab_size", config.vocabulary},
                                    {"max_position_embeddings", config.context_max},
                                    {"rms_norm_eps", shortest(config.rms_eps)},
                                    {"rope_parameters", rope_of(config)},
                                    {"attention_bias", config.qkv_bias},
                                    {"tie_word_embeddings", config.tied_embeddings},
                                    {"eos_token_id", config.eos_ids},
                                    {"dtype", "bfloat16"}};
  return json.dump(2) + '\n';
}

Result<void> write_model_folder(const std::filesystem::path& folder, const LlamaConfig& config, const Weights& weights,
                                const std::filesystem::path& source) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail("cannot make the folder {}: {}", folder.string(), error.message());
  TRY(const std::string json, hf_config_json(config));
  TRY_VOID(write_text(folder / "config.json", json));
  TRY_VOID(write_text_files(folder, source));
  return write_safetensors(folder / "model.safetensors", Bf16Tensors(weights).stored(), {{"format", "pt"}});
}

}  // namespace slipstream::train
