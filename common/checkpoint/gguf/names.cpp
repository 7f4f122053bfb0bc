#include "common/checkpoint/gguf/names.h"

#include <algorithm>
#include <charconv>
#include <span>

#include <fmt/format.h>

namespace slipstream {
namespace {

constexpr std::string_view kLayers = "model.layers.", kBlocks = "blk.";

struct Name {
  std::string_view hugging_face, gguf;
};
constexpr Name kTop[] = {{"model.embed_tokens.weight", "token_embd.weight"},
                         {"model.norm.weight", "output_norm.weight"},
                         {"lm_head.weight", "output.weight"}};
constexpr Name kOfLayers[] = {
    {"input_layernorm.weight", "attn_norm.weight"},    {"self_attn.q_proj.weight", "attn_q.weight"},
    {"self_attn.k_proj.weight", "attn_k.weight"},      {"self_attn.v_proj.weight", "attn_v.weight"},
    {"self_attn.o_proj.weight", "attn_output.weight"}, {"mlp.gate_proj.weight", "ffn_gate.weight"},
    {"mlp.up_proj.weight", "ffn_up.weight"},           {"mlp.down_proj.weight", "ffn_down.weight"},
    {"self_attn.q_proj.bias", "attn_q.bias"},          {"self_attn.k_proj.bias", "attn_k.bias"},
    {"self_attn.v_proj.bias", "attn_v.bias"},          {"self_attn.o_proj.bias", "attn_output.bias"},
    {"self_attn.q_norm.weight", "attn_q_norm.weight"}, {"self_attn.k_norm.weight", "attn_k_norm.weight"}};
// Hugging Face gives one name to two norms: that before the MLP, and in a model with norms behind
// each block that behind the attention.
constexpr Name kNormOfMlp[] = {{"post_attention_layernorm.weight", "ffn_norm.weight"}};
constexpr Name kPostNorms[] = {{"post_attention_layernorm.weight", "post_attention_norm.weight"},
                               {"pre_feedforward_layernorm.weight", "ffn_norm.weight"},
                               {"post_feedforward_layernorm.weight", "post_ffw_norm.weight"}};
std::span<const Name> norms_of(bool post_norms) {
  return post_norms ? std::span<const Name>(kPostNorms) : std::span<const Name>(kNormOfMlp);
}

// Splits the name of a layer's tensor: "blk.3.attn_q.weight" with the prefix "blk." gives 3 and
// "attn_q.weight".
struct InLayer {
  int32_t layer = 0;
  std::string_view part;
};
std::optional<InLayer> in_layer(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  InLayer in;
  const auto number = std::from_chars(name.data(), name.data() + name.size(), in.layer);
  if (number.ec != std::errc{} || number.ptr == name.data() + name.size() || *number.ptr != '.') return std::nullopt;
  in.part = name.substr(static_cast<size_t>(number.ptr - name.data()) + 1);
  return in;
}

}  // namespace

std::optional<std::string> gguf_name(std::string_view hugging_face, bool post_norms) {
  for (const Name& name : kTop) {
    if (name.hugging_face == hugging_face) return std::string(name.gguf);
  }
  const auto in = in_layer(hugging_face, kLayers);
  if (!in) return std::nullopt;
  for (const std::span<const Name> names : {std::span<const Name>(kOfLayers), norms_of(post_norms)}) {
    for (const Name& name : names) {
      if (name.hugging_face == in->part) return fmt::format("{}{}.{}", kBlocks, in->layer, name.gguf);
    }
  }
  return std::nullopt;
}

bool gguf_name_is_of(std::string_view gguf, const LlamaConfig& config) {
  for (const Name& name : kTop) {
    if (name.gguf == gguf) return true;
  }
  const auto in = in_layer(gguf, kBlocks);
  if (!in || in->layer < 0 || in->layer >= config.layers) return false;
  const auto is_it = [&](const Name& name) { return name.gguf == in->part; };
  if (std::ranges::any_of(norms_of(config.post_norms), is_it)) return true;
  if (std::ranges::none_of(kOfLayers, is_it)) return false;
  if (in->part == "attn_output.bias") return config.out_bias;
  if (in->part.ends_with(".bias")) return config.qkv_bias;
  return in->part == "attn_q_norm.weight" || in->part == "attn_k_norm.weight" ? config.head_norms : true;
}

}  // namespace slipstream
