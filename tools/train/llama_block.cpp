#include "tools/train/llama_block.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/silu.h>

namespace slipstream::train {

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, at::ScalarType compute) {
  return at::linear(x.to(compute), weight.to(compute), bias.defined() ? bias.to(compute) : bias);
}

LlamaBlock::LlamaBlock(const LlamaConfig& config, const Weights& weights, const std::string& prefix, at::ScalarType compute)
    : heads_(config.heads),
      kv_heads_(config.kv_heads),
      head_size_(config.head_size),
      hidden_(config.hidden),
      eps_(config.rms_eps),
      compute_(compute) {
  const auto projection = [&](const char* name, bool bias) {
    const std::string at = prefix + name;
    return Linear{weights.at(at + ".weight"), bias ? weights.at(at + ".bias") : at::Tensor()};
  };
  input_norm_ = weights.at(prefix + "input_layernorm.weight");
  mlp_norm_ = weights.at(prefix + "post_attention_layernorm.weight");
  if (config.head_norms) {
    query_norm_ = weights.at(prefix + "self_attn.q_norm.weight");
    key_norm_ = weights.at(prefix + "self_attn.k_norm.weight");
  }
  query_ = projection("self_attn.q_proj", config.qkv_bias);
  key_ = projection("self_attn.k_proj", config.qkv_bias);
  value_ = projection("self_attn.v_proj", config.qkv_bias);
  output_ = projection("self_attn.o_proj", config.out_bias);
  gate_ = projection("mlp.gate_proj", false);
  up_ = projection("mlp.up_proj", false);
  down_ = projection("mlp.down_proj", false);
}

at::Tensor LlamaBlock::forward(const at::Tensor& residual, const Rotary& rotary) const {
  const at::Tensor attended = residual + attend(at::rms_norm(residual, {hidden_}, input_norm_, eps_), rotary);
  const at::Tensor normed = at::rms_norm(attended, {hidden_}, mlp_norm_, eps_).to(compute_);
  const at::Tensor gated = at::silu(linear(normed, gate_.weight, {}, compute_)) * linear(normed, up_.weight, {}, compute_);
  return attended + linear(gated, down_.weight, {}, compute_);
}

// [sequences, length, hidden] -> [sequences, heads, length, head_size]. Head norms come before the
// rotation, as in Qwen3's reference.
at::Tensor LlamaBlock::heads_of(const at::Tensor& x, const Linear& projection, int64_t heads, const at::Tensor& norm) const {
  at::Tensor split = linear(x, projection.weight, projection.bias, compute_).view({x.size(0), x.size(1), heads, head_size_});
  if (norm.defined()) split = at::rms_norm(split.to(at::kFloat), {head_size_}, norm, eps_).to(compute_);
  return split.transpose(1, 2);
}

at::Tensor LlamaBlock::attend(const at::Tensor& normed, const Rotary& rotary) const {
  const at::Tensor x = normed.to(compute_);
  const at::Tensor query = rotary.rotate(heads_of(x, query_, heads_, query_norm_));
  const at::Tensor key = rotary.rotate(heads_of(x, key_, kv_heads_, key_norm_));
  const at::Tensor value = heads_of(x, value_, kv_heads_, {});
  const at::Tensor heads = at::scaled_dot_product_attention(query, key, value, /*attn_mask=*/{}, /*dropout_p=*/0.0,
                                                            /*is_causal=*/true, /*scale=*/{}, /*enable_gqa=*/true);
  const at::Tensor joined = heads.transpose(1, 2).reshape({x.size(0), x.size(1), heads_ * head_size_});
  return linear(joined, output_.weight, output_.bias, compute_);
}

}  // namespace slipstream::train
