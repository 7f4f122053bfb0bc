#include "common/checkpoint/hf_config.h"

#include <algorithm>
#include <cmath>

#include "common/base/limits.h"
#include "common/checkpoint/gemma_config.h"
#include "common/checkpoint/hf_fields.h"

namespace slipstream {
namespace {

Result<int32_t> size_field(const JsonFields& fields, std::string_view name, int32_t most) {
  TRY(const int64_t value, fields.integer(name, 1, most));
  return static_cast<int32_t>(value);
}

// An architecture that is none of ours is refused before its fields are read, which may lie
// elsewhere.
Result<void> check_architecture(const JsonFields& fields, std::string_view name) {
  constexpr std::string_view kOurs[] = {"LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM",
                                        "Qwen3ForCausalLM", "Gemma2ForCausalLM",  "Gemma3ForCausalLM"};
  if (std::ranges::find(kOurs, name) != std::end(kOurs)) return {};
  if (name == "Gemma3ForConditionalGeneration") {
    return fail(
        "{}: {} reads images, too, which is not supported; Gemma3ForCausalLM is, which reads text: take the model's GGUF file, "
        "which holds that part alone",
        fields.what(), name);
  }
  return fail(
      "{}: architecture {:.100} is not supported yet; LlamaForCausalLM, MistralForCausalLM, Qwen2ForCausalLM, "
      "Qwen3ForCausalLM, Gemma2ForCausalLM and Gemma3ForCausalLM are",
      fields.what(), name);
}

// Reads what differs between the members of the family: Llama may have a bias on all four attention
// projections, Qwen2 always has one on query, key and value only, Qwen3 normalises heads, and some
// Mistrals see the last positions only.
Result<void> read_architecture(const JsonFields& fields, std::string_view name, LlamaConfig& config) {
  const bool qwen2 = name == "Qwen2ForCausalLM", mistral = name == "MistralForCausalLM";
  if (mistral && fields.has("sliding_window")) {
    TRY(const int32_t window, size_field(fields, "sliding_window", kPositionsMax));
    set_window(window, config);
  }
  TRY(const bool biases, fields.boolean_or("attention_bias", false));
  config.qkv_bias = biases || qwen2;
  config.out_bias = biases && !qwen2;
  config.head_norms = name == "Qwen3ForCausalLM";
  for (const std::string_view field : {"mlp_bias", "use_sliding_window"}) {
    TRY(const bool on, fields.boolean_or(field, false));
    if (on) return fail("{}: \"{}\" true is not supported", fields.what(), field);
  }
  if (const auto gemma = gemma_of(name)) return read_hf_gemma(fields, *gemma, config);
  if (fields.has("hidden_act")) {
    TRY(const std::string act, fields.string("hidden_act"));
    if (act != "silu") return fail("{}: \"hidden_act\" {:.100} is not supported; silu is", fields.what(), act);
  }
  return {};
}

Result<void> read_sizes(const JsonFields& fields, const HfDefaults& absent, LlamaConfig& config) {
  TRY(config.hidden, size_field(fields, "hidden_size", kHiddenMax));
  TRY(config.intermediate, size_field(fields, "intermediate_size", kIntermediateMax));
  TRY(config.layers, size_field(fields, "num_hidden_layers", kLayersMax));
  TRY(config.heads, size_field(fields, "num_attention_heads", kHeadsMax));
  config.kv_heads = config.heads;
  if (fields.has("num_key_value_heads")) {
    TRY(config.kv_heads, size_field(fields, "num_key_value_heads", kHeadsMax));
  }
  if (fields.has("head_dim")) {
    TRY(config.head_size, size_field(fields, "head_dim", kHeadSizeMax));
  } else if (absent.head_size > 0) {
    config.head_size = absent.head_size;
  } else {
    if (config.hidden % config.heads != 0) {
      return fail("{}: \"hidden_size\" {} is no multiple of \"num_attention_heads\" {}", fields.what(), config.hidden,
                  config.heads);
    }
    config.head_size = config.hidden / config.heads;
  }
  TRY(config.vocabulary, size_field(fields, "vocab_size", kVocabularyMax));
  TRY(const int64_t context, fields.integer("max_position_embeddings", 1, kPositionsMax));
  config.context_max = static_cast<int32_t>(std::min<int64_t>(context, kContextTokensMax));
  TRY(const double eps, fields.number("rms_norm_eps", kRmsEpsMin, kRmsEpsMax));
  config.rms_eps = static_cast<float>(eps);
  TRY(config.tied_embeddings, fields.boolean_or("tie_word_embeddings", absent.tied_embeddings));
  return check_llama_shape(config, fields.what());
}

Result<float> rope_number(const JsonFields& rope, std::string_view name, double least, double most = kRopeFactorMax) {
  TRY(const double value, rope.number(name, least, most));
  return static_cast<float>(value);
}

Result<Llama3Scaling> read_llama3(const JsonFields& rope) {
  Llama3Scaling scaling;
  TRY(scaling.factor, rope_number(rope, "factor", 1.0));
  TRY(scaling.low_freq_factor, rope_number(rope, "low_freq_factor", kRopeFactorMin));
  TRY(scaling.high_freq_factor, rope_number(rope, "high_freq_factor", kRopeFactorMin));
  TRY(scaling.original_context, size_field(rope, "original_max_position_embeddings", kPositionsMax));
  if (!(scaling.high_freq_factor > scaling.low_freq_factor)) {
    return fail("{}: \"high_freq_factor\" must be above \"low_freq_factor\"", rope.what());
  }
  return scaling;
}

// The attention factor of transformers: the field of that name, or the ratio of both "mscale"
// fields' (DeepSeek's), or the usual one.
Result<float> read_attention_factor(const JsonFields& rope, float factor) {
  if (rope.has("attention_factor")) return rope_number(rope, "attention_factor", kRopeFactorMin);
  if (!rope.has("mscale") || !rope.has("mscale_all_dim")) return YarnScaling::usual_attention_factor(factor);
  TRY(const double scale, rope.number("mscale", 0, kRopeFactorMax));
  TRY(const double all, rope.number("mscale_all_dim", 0, kRopeFactorMax));
  if (scale == 0 || all == 0) return YarnScaling::usual_attention_factor(factor);
  if (factor <= 1) return 1.0F;
  const double logarithm = 0.1 * std::log(double{factor});
  return static_cast<float>((scale * logarithm + 1) / (all * logarithm + 1));
}

// Without an original context it is the model's own.
Result<YarnScaling> read_yarn(const JsonFields& fields, const JsonFields& rope) {
  YarnScaling scaling;
  TRY(scaling.factor, rope_number(rope, "factor", 1.0));
  const bool own = rope.has("original_max_position_embeddings");
  TRY(scaling.original_context,
      size_field(own ? rope : fields, own ? "original_max_position_embeddings" : "max_position_embeddings", kPositionsMax));
  TRY(scaling.attention_factor, read_attention_factor(rope, scaling.factor));
  if (rope.has("beta_fast")) {
    TRY(scaling.beta_fast, rope_number(rope, "beta_fast", kRopeBetaMin));
  }
  if (rope.has("beta_slow")) {
    TRY(scaling.beta_slow, rope_number(rope, "beta_slow", kRopeBetaMin));
  }
  TRY(scaling.whole_pairs, rope.boolean_or("truncate", true));
  return scaling;
}

// By its name. Errors say which there are.
Result<void> read_scaling(const JsonFields& fields, const JsonFields& rope, LlamaConfig& config) {
  std::string type = "default";
  for (const std::string_view key : {"type", "rope_type"}) {
    if (rope.has(key)) {
      TRY(type, rope.string(key));
    }
  }
  if (type == "default") return {};
  if (type == "linear") {
    TRY(config.rope_divisor, rope_number(rope, "factor", kRopeFactorMin));
  } else if (type == "llama3") {
    TRY(config.llama3, read_llama3(rope));
  } else if (type == "yarn") {
    TRY(config.yarn, read_yarn(fields, rope));
  } else {
    return fail("{}: RoPE type {:.100} is not supported; default, linear, llama3 and yarn are", rope.what(), type);
  }
  return {};
}

// Three layouts: older files have "rope_theta" and "rope_scaling" side by side; transformers 5
// writes all of it into "rope_parameters", or into an object in there for each kind of layer.
Result<void> read_rope(const JsonFields& fields, LlamaConfig& config) {
  const std::string_view group = fields.has("rope_parameters") ? "rope_parameters" : "rope_scaling";
  std::optional<JsonFields> rope;
  if (fields.has(group)) {
    TRY(rope, fields.object(group));
    if (rope->has("full_attention")) {
      TRY(rope, rope->object("full_attention"));
    }
  }
  const JsonFields& theta_fields = rope && rope->has("rope_theta") ? *rope : fields;
  if (theta_fields.has("rope_theta")) {
    TRY(const double theta, theta_fields.number("rope_theta", kRopeThetaMin, kRopeThetaMax));
    config.rope_theta = static_cast<float>(theta);
  }
  return rope ? read_scaling(fields, *rope, config) : Result<void>();
}

// "eos_token_id" is one id or a list of ids.
Result<std::vector<TokenId>> read_eos(const JsonFields& fields, int32_t vocabulary) {
  TRY(const auto element, fields.element("eos_token_id"));
  std::vector<simdjson::dom::element> elements{element};
  if (simdjson::dom::array list; element.get_array().get(list) == simdjson::SUCCESS) elements.assign(list.begin(), list.end());
  std::vector<int64_t> ids;
  for (const auto& each : elements) {
    int64_t id = -1;  // for anything but an integer: checked_eos() refuses it
    if (each.get_int64().get(id) != simdjson::SUCCESS) id = -1;
    ids.push_back(id);
  }
  return checked_eos(std::move(ids), vocabulary, fmt::format("{}: \"eos_token_id\"", fields.what()));
}

}  // namespace

Result<std::string> read_hf_architecture(const JsonFields& fields) {
  TRY(const auto element, fields.element("architectures"));
  simdjson::dom::array names;
  std::string_view name;
  if (element.get_array().get(names) != simdjson::SUCCESS || names.size() != 1 ||
      names.at(0).get_string().get(name) != simdjson::SUCCESS) {
    return fail("{}: \"architectures\" must name one architecture", fields.what());
  }
  return std::string(name);
}

Result<LlamaConfig> read_hf_shape(const JsonFields& fields, const HfDefaults& absent) {
  LlamaConfig config;
  config.rope_theta = absent.rope_theta;
  TRY_VOID(read_sizes(fields, absent, config));
  TRY_VOID(read_rope(fields, config));
  return config;
}

Result<LlamaConfig> read_hf_config(const std::filesystem::path& folder) {
  const auto path = folder / "config.json", generation = folder / "generation_config.json";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return fail("{} holds no config.json: pass a Hugging Face model folder or a GGUF file", folder.string());
  }
  TRY(const JsonText json, read_json_object(path));
  const JsonFields fields(json.root, path.string());
  TRY(const std::string name, read_hf_architecture(fields));
  TRY_VOID(check_architecture(fields, name));
  HfDefaults absent;
  if (const auto gemma = gemma_of(name)) {
    absent = {.head_size = kGemmaHeadSize, .tied_embeddings = true};
    if (gemma == Gemma::three) absent.rope_theta = kGemma3Theta;
  }
  TRY(LlamaConfig config, read_hf_shape(fields, absent));
  TRY_VOID(read_architecture(fields, name, config));
  if (std::filesystem::exists(generation, ignored)) {
    TRY(const JsonText generation_json, read_json_object(generation));
    const JsonFields generation_fields(generation_json.root, generation.string());
    if (generation_fields.has("eos_token_id")) {
      TRY(config.eos_ids, read_eos(generation_fields, config.vocabulary));
      return config;
    }
  }
  TRY(config.eos_ids, read_eos(fields, config.vocabulary));
  return config;
}

}  // namespace slipstream
