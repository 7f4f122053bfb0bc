#include "common/checkpoint/gguf/config.h"

#include <algorithm>
#include <cmath>

#include "common/base/limits.h"
#include "common/checkpoint/dequantise.h"
#include "common/checkpoint/gemma_config.h"
#include "common/checkpoint/gguf/names.h"

namespace slipstream {
namespace {

constexpr std::string_view kArchitectures[] = {"llama", "qwen2", "qwen3", "gemma2", "gemma3"};
constexpr std::string_view kEndTokens[] = {"eos", "eot", "eom"};  // of a text, of a turn, of a message to a tool
constexpr std::string_view kGemmaTurnEnd = "<end_of_turn>";
constexpr std::string_view kRopeFrequencies = "rope_freqs.weight";

// The fields of one architecture. Their keys begin with its name: "llama.block_count".
struct Fields {
  const GgufFields& all;
  std::string architecture;

  std::optional<Gemma> gemma() const {
    return architecture == "gemma2"   ? std::optional(Gemma::two)
           : architecture == "gemma3" ? std::optional(Gemma::three)
                                      : std::nullopt;
  }
  std::string key(std::string_view name) const { return fmt::format("{}.{}", architecture, name); }
  bool has(std::string_view name) const { return all.has(key(name)); }
  Result<int32_t> size(std::string_view name, int32_t most) const {
    TRY(const int64_t value, all.integer(key(name), 1, most));
    return static_cast<int32_t>(value);
  }
  Result<int32_t> size_or(std::string_view name, int32_t absent, int32_t most) const {
    return has(name) ? size(name, most) : Result<int32_t>(absent);
  }
};

Result<Fields> fields_of(const GgufFile& file) {
  TRY(const std::string_view architecture, file.fields().text("general.architecture"));
  if (std::ranges::find(kArchitectures, architecture) == std::end(kArchitectures)) {
    return fail("{}: architecture {:.100} is not supported yet; llama, qwen2, qwen3, gemma2 and gemma3 are", file.what(),
                architecture);
  }
  return Fields{file.fields(), std::string(architecture)};
}

Result<void> read_sizes(const Fields& fields, LlamaConfig& config) {
  TRY(config.hidden, fields.size("embedding_length", kHiddenMax));
  TRY(config.intermediate, fields.size("feed_forward_length", kIntermediateMax));
  TRY(config.layers, fields.size("block_count", kLayersMax));
  TRY(config.heads, fields.size("attention.head_count", kHeadsMax));
  TRY(config.kv_heads, fields.size_or("attention.head_count_kv", config.heads, kHeadsMax));
  if (!fields.has("attention.key_length") && config.hidden % config.heads != 0) {
    return fail("{}: {} numbers cannot be shared by {} heads evenly", fields.all.what(), config.hidden, config.heads);
  }
  TRY(config.head_size, fields.size_or("attention.key_length", config.hidden / config.heads, kHeadSizeMax));
  TRY(const int32_t values, fields.size_or("attention.value_length", config.head_size, kHeadSizeMax));
  TRY(const int32_t rotated, fields.size_or("rope.dimension_count", config.head_size, kHeadSizeMax));
  if (values != config.head_size || rotated != config.head_size) {
    return fail("{}: heads of {} numbers of which {} are rotated, with values of {}: only equal sizes are supported",
                fields.all.what(), config.head_size, rotated, values);
  }
  TRY(const int32_t context, fields.size("context_length", kPositionsMax));
  config.context_max = std::min(context, kContextTokensMax);
  if (const std::string key = fields.key("attention.sliding_window"); fields.all.has(key)) {
    TRY(const int64_t window, fields.all.integer(key, 0, kPositionsMax));  // 0: none
    if (window > 0) set_window(window, config);
  }
  const std::string eps = fields.key("attention.layer_norm_rms_epsilon");
  TRY(const double least_norm, fields.all.number(eps, kRmsEpsMin, kRmsEpsMax));
  config.rms_eps = static_cast<float>(least_norm);
  return check_llama_shape(config, fields.all.what());
}

// Refuses what other models of these architectures have and this code does not compute. A model
// that is computed without it would give wrong text without any error.
Result<void> refuse_the_unknown(const Fields& fields) {
  struct Off {
    std::string_view name;
    double value;  // that means nothing
  };
  for (const auto& [name, off] :
       {Off{"expert_count", 0}, Off{"rope.scaling.attn_factor", 1}, Off{"rope.scaling.yarn_ext_factor", 1},
        Off{"rope.scaling.yarn_attn_factor", 1}, Off{"rope.scaling.yarn_log_multiplier", 0}}) {
    if (!fields.has(name)) continue;
    TRY(const double value, fields.all.number(fields.key(name), -1e18, 1e18));
    if (value != off) return fail("{}: {} {} is not supported", fields.all.what(), fields.key(name), value);
  }
  return {};
}

Result<float> number_or(const Fields& fields, std::string_view name, double absent, std::pair<double, double> range) {
  if (!fields.has(name)) return static_cast<float>(absent);
  TRY(const double number, fields.all.number(fields.key(name), range.first, range.second));
  return static_cast<float>(number);
}

// Files of llama.cpp's converter hold norms as they are applied (its Gemma2Model and Gemma3Model
// add 1 to each "norm.weight"), and no field for query_pre_attn_scalar: llama.cpp knows the 27B
// models, where it is hidden / heads, by the number of their layers (f_attention_scale of its
// llama_model_gemma2 and llama_model_gemma3). What a file does not name is what it is there.
Result<void> read_gemma(const Fields& fields, Gemma version, LlamaConfig& config) {
  constexpr std::pair kCaps{kSoftCapMin, kSoftCapMax}, kThetas{kRopeThetaMin, kRopeThetaMax};
  const bool two = version == Gemma::two;
  set_gemma(version, config);
  const bool largest = config.layers == (two ? 46 : 62);
  set_query_scalar(largest ? config.hidden / config.heads : config.head_size, config);
  TRY(config.full_attention_every,
      fields.size_or("attention.sliding_window_pattern", usual_full_attention_every(version), kLayersMax));
  TRY(config.logits_soft_cap, number_or(fields, "final_logit_softcapping", two ? kGemma2LogitsSoftCap : 0.0F, kCaps));
  const std::string window = fields.key("attention.sliding_window");
  if (two) {
    if (!fields.all.has(window)) set_window(kGemma2Window, config);
    TRY(config.attention_soft_cap, number_or(fields, "attn_logit_softcapping", kGemma2AttentionSoftCap, kCaps));
    return {};
  }
  if (fields.has("attn_logit_softcapping"))
    return fail("{}: a gemma3 with soft caps on attention is not supported", fields.all.what());
  TRY(config.local_rope_theta, number_or(fields, "rope.freq_base_swa", kGemma3LocalTheta, kThetas));
  TRY(const int64_t tokens, fields.all.has(window) ? fields.all.integer(window, 0, kPositionsMax) : Result<int64_t>(0));
  if (tokens == 0) config.full_attention_every = 1;  // without a window no layer is local
  return {};
}

Result<float> factor_of(const Fields& fields, std::string_view name, double least) {
  TRY(const double factor, fields.all.number(fields.key(name), least, kRopeFactorMax));
  return static_cast<float>(factor);
}

// Fields that llama.cpp reads: "rope.scaling.type", linear where there is a factor and no type,
// with an older name of the linear factor.
Result<void> read_scaling(const Fields& fields, LlamaConfig& config) {
  const std::string_view factor = fields.has("rope.scaling.factor") ? "rope.scaling.factor" : "rope.scale_linear";
  std::string_view type = fields.has(factor) ? "linear" : "none";
  if (const std::string key = fields.key("rope.scaling.type"); fields.all.has(key)) {
    TRY(type, fields.all.text(key));
  }
  if (type == "none") return {};
  if (type == "linear" && !fields.has(factor)) return {};  // by nothing, as in llama.cpp
  if (type == "linear") {
    TRY(config.rope_divisor, factor_of(fields, factor, kRopeFactorMin));
    return {};
  }
  if (type != "yarn") {
    return fail("{}: RoPE scaling {:.100} is not supported; none, linear, yarn and Llama 3's {} are", fields.all.what(), type,
                kRopeFrequencies);
  }
  YarnScaling yarn;
  TRY(yarn.factor, factor_of(fields, factor, kRopeFactorMin));
  TRY(yarn.original_context, fields.size("rope.scaling.original_context_length", kPositionsMax));
  for (const auto& [name, beta] :
       {std::pair("rope.scaling.yarn_beta_fast", &yarn.beta_fast), std::pair("rope.scaling.yarn_beta_slow", &yarn.beta_slow)}) {
    if (!fields.has(name)) continue;
    TRY(*beta, factor_of(fields, name, kRopeBetaMin));
  }
  yarn.attention_factor = YarnScaling::usual_attention_factor(yarn.factor);
  config.yarn = yarn;
  return {};
}

Result<void> read_rope(const GgufFile& file, const Fields& fields, LlamaConfig& config) {
  if (fields.has("rope.freq_base")) {
    TRY(const double theta, fields.all.number(fields.key("rope.freq_base"), kRopeThetaMin, kRopeThetaMax));
    config.rope_theta = static_cast<float>(theta);
  }
  TRY_VOID(read_scaling(fields, config));
  if (!file.has(kRopeFrequencies)) return {};
  const GgufTensor& tensor = file.tensors().at(kRopeFrequencies);
  const int32_t half = config.head_size / 2;
  if (tensor.dtype != Dtype::f32 || tensor.shape != std::vector<int64_t>{half}) {
    return fail("{}: tensor {} must hold {} numbers in F32", file.what(), kRopeFrequencies, half);
  }
  config.rope_divisors.resize(static_cast<size_t>(half));
  read_row({.name = kRopeFrequencies, .dtype = Dtype::f32, .rows = 1, .cols = half, .bytes = tensor.bytes}, 0,
           config.rope_divisors);
  if (!std::ranges::all_of(config.rope_divisors, [](float each) { return std::isfinite(each) && each > 0; })) {
    return fail("{}: tensor {} must hold numbers above 0", file.what(), kRopeFrequencies);
  }
  return {};
}

// The vocabulary has as many tokens as the embedding table has rows. Every token that ends a text,
// a turn or a message to a tool is an end token. A Gemma's file may leave out which token ends a
// turn; llama.cpp then knows it by its text (special_eot_id of its llama_vocab).
Result<void> read_vocabulary(const GgufFile& file, bool gemma, LlamaConfig& config) {
  const auto embedding = file.tensors().find("token_embd.weight");
  if (embedding == file.tensors().end()) return fail("{}: tensor token_embd.weight is missing", file.what());
  TRY(const auto tokens, file.fields().texts("tokenizer.ggml.tokens"));
  if (tokens.empty() || tokens.size() > kVocabularyMax) {
    return fail("{}: {} tokens, supported are 1 to {}", file.what(), tokens.size(), kVocabularyMax);
  }
  if (embedding->second.shape.front() != static_cast<int64_t>(tokens.size())) {
    return fail("{}: {} embeddings for {} tokens: tokenizer and weights do not belong together", file.what(),
                embedding->second.shape.front(), tokens.size());
  }
  config.vocabulary = static_cast<int32_t>(tokens.size());
  std::vector<int64_t> ends;
  for (const std::string_view end : kEndTokens) {
    const std::string key = fmt::format("tokenizer.ggml.{}_token_id", end);
    if (!file.fields().has(key)) continue;
    TRY(const int64_t id, file.fields().integer(key, 0, config.vocabulary - 1));
    ends.push_back(id);
  }
  if (const auto turn = std::ranges::find(tokens, kGemmaTurnEnd); gemma && turn != tokens.end()) {
    ends.push_back(turn - tokens.begin());
  }
  TRY(config.eos_ids, checked_eos(std::move(ends), config.vocabulary, file.what() + ": the metadata of end tokens"));
  return {};
}

}  // namespace

Result<LlamaConfig> read_gguf_config(const GgufFile& file) {
  TRY(const Fields fields, fields_of(file));
  LlamaConfig config;
  TRY_VOID(read_sizes(fields, config));
  TRY_VOID(refuse_the_unknown(fields));
  TRY_VOID(read_rope(file, fields, config));
  const std::optional<Gemma> gemma = fields.gemma();
  if (gemma) TRY_VOID(read_gemma(fields, *gemma, config));
  TRY_VOID(read_vocabulary(file, gemma.has_value(), config));
  // GGUF has no fields for these; the architecture and the tensors that are there decide.
  config.tied_embeddings = !file.has("output.weight");
  config.qkv_bias = fields.architecture == "qwen2" || file.has("blk.0.attn_q.bias");
  config.out_bias = file.has("blk.0.attn_output.bias");
  if (fields.architecture == "qwen3") config.head_norms = true;
  // A tensor of no known use means that the model computes something which this code would leave
  // out.
  for (const auto& [name, tensor] : file.tensors()) {
    if (name != kRopeFrequencies && !gguf_name_is_of(name, config)) {
      return fail("{}: tensor {} is none that a plain {} model has: it is another kind of model, not supported yet",
                  file.what(), name, fields.architecture);
    }
  }
  return config;
}

}  // namespace slipstream
