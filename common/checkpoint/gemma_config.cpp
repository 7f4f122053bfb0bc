#include "common/checkpoint/gemma_config.h"

#include <cmath>
#include <vector>

#include "common/base/limits.h"

namespace slipstream {
namespace {

// A soft cap that is null, or absent where a Gemma has none, is none.
Result<float> soft_cap(const JsonFields& fields, std::string_view name, float absent) {
  if (!fields.has(name)) return fields.is_null(name) ? 0.0F : absent;
  TRY(const double cap, fields.number(name, kSoftCapMin, kSoftCapMax));
  return static_cast<float>(cap);
}

// "layer_types" names each layer's kind. Older files have the period of the pattern, or neither.
Result<int32_t> read_pattern(const JsonFields& fields, Gemma version, int32_t layers) {
  if (!fields.has("layer_types")) {
    if (!fields.has("sliding_window_pattern")) return usual_full_attention_every(version);
    TRY(const int64_t every, fields.integer("sliding_window_pattern", 1, kLayersMax));
    return static_cast<int32_t>(every);
  }
  TRY(const auto element, fields.element("layer_types"));
  simdjson::dom::array types;
  if (element.get_array().get(types) != simdjson::SUCCESS || types.size() != static_cast<size_t>(layers)) {
    return fail("{}: \"layer_types\" must name the kind of each of {} layers", fields.what(), layers);
  }
  bool local[kLayersMax] = {};
  size_t count = 0;
  for (const auto& each : types) {
    std::string_view type;
    if (each.get_string().get(type) != simdjson::SUCCESS || (type != "sliding_attention" && type != "full_attention")) {
      return fail("{}: \"layer_types\" may have sliding_attention and full_attention", fields.what());
    }
    local[count++] = type == "sliding_attention";
  }
  const auto every = full_attention_every(std::span(local).first(count));
  if (!every) {
    return fail("{}: \"layer_types\" repeat no pattern of some sliding layers and a full one, which is what is supported",
                fields.what());
  }
  return *every;
}

// transformers 5 has it in "rope_parameters", by kind of layer.
Result<float> read_local_theta(const JsonFields& fields) {
  double theta = kGemma3LocalTheta;
  if (fields.has("rope_parameters")) {
    TRY(const JsonFields rope, fields.object("rope_parameters"));
    if (rope.has("sliding_attention")) {
      TRY(const JsonFields local, rope.object("sliding_attention"));
      if (local.has("rope_type")) {
        TRY(const std::string type, local.string("rope_type"));
        if (type != "default") return fail("{}: RoPE type {:.100} of sliding layers is not supported", local.what(), type);
      }
      if (local.has("rope_theta")) {
        TRY(theta, local.number("rope_theta", kRopeThetaMin, kRopeThetaMax));
      }
    }
  } else if (fields.has("rope_local_base_freq")) {
    TRY(theta, fields.number("rope_local_base_freq", kRopeThetaMin, kRopeThetaMax));
  }
  return static_cast<float>(theta);
}

}  // namespace

void set_gemma(Gemma version, LlamaConfig& config) {
  config.head_norms = version == Gemma::three;
  config.post_norms = true;
  config.gelu = true;
  // transformers rounds it to the type in which it computes, which is f32 here; so does llama.cpp.
  config.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(config.hidden)));
}

void set_query_scalar(double scalar, LlamaConfig& config) {
  config.score_scale = scalar == config.head_size ? 0.0F : static_cast<float>(1.0 / std::sqrt(scalar));
}

std::optional<int32_t> full_attention_every(std::span<const bool> local) {
  size_t period = 0;  // 0: all are local
  while (period < local.size() && local[period]) ++period;
  period = period == local.size() ? 0 : period + 1;
  for (size_t layer = 0; layer < local.size(); ++layer) {
    if (local[layer] != (period == 0 || (layer + 1) % period != 0)) return std::nullopt;
  }
  return static_cast<int32_t>(period);
}

std::optional<Gemma> gemma_of(std::string_view architecture) {
  if (architecture == "Gemma2ForCausalLM") return Gemma::two;
  if (architecture == "Gemma3ForCausalLM") return Gemma::three;
  return std::nullopt;
}

// What a file does not name has the value that it has in transformers.
Result<void> read_hf_gemma(const JsonFields& fields, Gemma version, LlamaConfig& config) {
  set_gemma(version, config);
  config.norm_offset = 1;
  if (fields.has("hidden_activation")) {
    TRY(const std::string act, fields.string("hidden_activation"));
    if (act != "gelu_pytorch_tanh") {
      return fail("{}: \"hidden_activation\" {:.100} is not supported; gelu_pytorch_tanh is", fields.what(), act);
    }
  }
  TRY(const bool both_ways, fields.boolean_or("use_bidirectional_attention", false));
  if (both_ways) return fail("{}: \"use_bidirectional_attention\" true is not supported", fields.what());
  double scalar = kGemmaHeadSize;
  if (fields.has("query_pre_attn_scalar")) {
    TRY(scalar, fields.number("query_pre_attn_scalar", kQueryScalarMin, kQueryScalarMax));
  }
  set_query_scalar(scalar, config);
  int64_t window = kGemma2Window;
  if (fields.has("sliding_window")) {
    TRY(window, fields.integer("sliding_window", 1, kPositionsMax));
  }
  set_window(window, config);
  TRY(config.full_attention_every, read_pattern(fields, version, config.layers));
  TRY(config.logits_soft_cap, soft_cap(fields, "final_logit_softcapping", version == Gemma::two ? kGemma2LogitsSoftCap : 0.0F));
  if (version == Gemma::two) {
    TRY(config.attention_soft_cap, soft_cap(fields, "attn_logit_softcapping", kGemma2AttentionSoftCap));
    return {};
  }
  if (fields.has("attn_logit_softcapping")) {
    return fail("{}: a Gemma 3 with \"attn_logit_softcapping\" is not supported: no other program computes it", fields.what());
  }
  TRY(config.local_rope_theta, read_local_theta(fields));
  return {};
}

}  // namespace slipstream
