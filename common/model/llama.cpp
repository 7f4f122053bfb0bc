#include "common/model/llama.h"

#include <algorithm>
#include <string>

#include "common/checkpoint/rope_frequencies.h"
#include "common/model/weight_loader.h"

namespace slipstream {

Result<Llama::Layer> Llama::load_layer(const WeightLoader& load, const LlamaConfig& config, int index) {
  const std::string at = fmt::format("model.layers.{}.", index);
  const int32_t q = config.heads * config.head_size, kv = config.kv_heads * config.head_size;
  Layer layer{};
  TRY_VOID(load_norms(load, config, at, layer));
  TRY(layer.qkv,
      load.stack(
          {{at + "self_attn.q_proj.weight", q}, {at + "self_attn.k_proj.weight", kv}, {at + "self_attn.v_proj.weight", kv}},
          config.hidden));
  TRY(layer.attention_out, load.stack({{at + "self_attn.o_proj.weight", config.hidden}}, q));
  TRY(layer.gate_up,
      load.stack({{at + "mlp.gate_proj.weight", config.intermediate}, {at + "mlp.up_proj.weight", config.intermediate}},
                 config.hidden));
  TRY(layer.down, load.stack({{at + "mlp.down_proj.weight", config.hidden}}, config.intermediate));
  if (config.qkv_bias) {
    TRY(layer.qkv_bias,
        load.column(
            {{at + "self_attn.q_proj.bias", q}, {at + "self_attn.k_proj.bias", kv}, {at + "self_attn.v_proj.bias", kv}}));
  }
  if (config.out_bias) {
    TRY(layer.out_bias, load.column({{at + "self_attn.o_proj.bias", config.hidden}}));
  }
  layer.rules = {.window = config.is_local(index) ? config.attention_window : kWholePath,
                 .scale = config.score_scale,
                 .soft_cap = config.attention_soft_cap};
  return layer;
}

// What Hugging Face calls post_attention_layernorm stands before the MLP in a Llama, and behind the
// attention in a Gemma.
Result<void> Llama::load_norms(const WeightLoader& load, const LlamaConfig& config, const std::string& at, Layer& layer) {
  const auto load_one = [&](const char* name, int32_t cols) { return load.gain(at + name + ".weight", cols); };
  TRY(layer.input_norm, load_one("input_layernorm", config.hidden));
  TRY(layer.mlp_norm, load_one(config.post_norms ? "pre_feedforward_layernorm" : "post_attention_layernorm", config.hidden));
  if (config.post_norms) {
    TRY(layer.attention_post_norm, load_one("post_attention_layernorm", config.hidden));
    TRY(layer.mlp_post_norm, load_one("post_feedforward_layernorm", config.hidden));
  }
  if (config.head_norms) {
    TRY(layer.query_norm, load_one("self_attn.q_norm", config.head_size));
    TRY(layer.key_norm, load_one("self_attn.k_norm", config.head_size));
  }
  return {};
}

// A step uses either sampled_tokens or ranked, so only one of them gets memory; the other's null
// data tells forward() and LanguageModel which it is.
Result<Llama::Buffers> Llama::make_buffers(const LlamaConfig& config, Device& device, const LlamaOptions& options) {
  Buffers buffers;
  const int32_t rows_max = options.rows_max;
  const Type kept = device.activations();
  const int32_t q = config.heads * config.head_size, kv = config.kv_heads * config.head_size;
  for (Tensor* each : {&buffers.residual, &buffers.delta, &buffers.normed, &buffers.wanted_residual, &buffers.wanted_delta,
                       &buffers.wanted_normed}) {
    TRY(*each, device.scratch(rows_max, config.hidden, kept));
  }
  TRY(buffers.qkv, device.scratch(rows_max, q + 2 * kv, kept));
  TRY(buffers.heads, device.scratch(rows_max, q, kept));
  TRY(buffers.gate_up, device.scratch(rows_max, 2 * config.intermediate, kept));
  TRY(buffers.gated, device.scratch(rows_max, config.intermediate, kept));
  TRY(buffers.logits, device.output(rows_max, config.vocabulary, Type::f32));
  if (options.ranked == 0) {
    TRY(buffers.sampled_tokens, device.output(rows_max, 1, Type::i32));
  } else {
    TRY(buffers.ranked, device.output(rows_max, options.ranked * kRankedWords, Type::i32));
  }
  if (!options.taps.empty()) {
    TRY(buffers.features, device.output(rows_max, static_cast<int32_t>(options.taps.size()) * config.hidden, Type::f32));
  }
  return buffers;
}

Result<void> Llama::load_weights(const WeightLoader& load, const LlamaConfig& config) {
  TRY(embedding_, load.stack({{"model.embed_tokens.weight", config.vocabulary}}, config.hidden));
  for (int index = 0; index < config.layers; ++index) {
    TRY(Layer layer, load_layer(load, config, index));
    layers_.push_back(layer);
  }
  TRY(final_norm_, load.gain("model.norm.weight", config.hidden));
  head_ = embedding_;  // tied: one packed matrix serves both
  if (!config.tied_embeddings) {
    TRY(head_, load.stack({{"lm_head.weight", config.vocabulary}}, config.hidden));
  }
  return {};
}

Result<void> Llama::check_weights(const Checkpoint& checkpoint, const LlamaConfig& config) {
  Llama model;
  return model.load_weights({checkpoint, nullptr, Format::matrix, {}, model.weights_}, config);
}

Result<Llama> Llama::load(const Checkpoint& checkpoint, const LlamaConfig& config, Device& device,
                          const LlamaOptions& options) {
  Llama model;
  const WeightLoader load{checkpoint, &device, Format::matrix, options.packed, model.weights_, config.norm_offset};
  model.eps_ = config.rms_eps;
  model.heads_ = config.heads;
  model.kv_heads_ = config.kv_heads;
  model.embedding_scale_ = config.embedding_scale;
  model.logits_soft_cap_ = config.logits_soft_cap;
  model.gelu_ = config.gelu;
  model.fine_rows_ = options.fine_rows;
  model.taps_ = options.taps;
  TRY_VOID(model.load_weights(load, config));
  TRY(const RopeTable* rope, device.rope(rope_frequencies(config), rope_factor(config), options.positions));
  const RopeTable* local_rope = rope;
  if (config.local_rope_theta > 0) {
    TRY(local_rope, device.rope(local_rope_frequencies(config), 1.0F, options.positions));
  }
  for (int index = 0; index < config.layers; ++index) {
    model.layers_[static_cast<size_t>(index)].rope = config.is_local(index) ? local_rope : rope;
  }
  if (options.screen_output && options.ranked == 0 && config.logits_soft_cap == 0) {
    TRY(model.screen_, device.screen(*model.head_));
  }
  const AttentionShape shape{.heads = config.heads, .kv_heads = config.kv_heads, .head_size = config.head_size};
  TRY(model.cache_, device.cache(config.layers, shape, options.cache_blocks, options.positions));
  TRY(model.buffers_, make_buffers(config, device, options));
  return model;
}

Result<Llama> Llama::load_ends(const Checkpoint& checkpoint, const LlamaConfig& config, Device& device,
                               const std::function<void(uint64_t)>& packed) {
  Llama model;
  LlamaConfig ends = config;
  ends.layers = 0;
  TRY_VOID(model.load_weights({checkpoint, &device, Format::matrix, packed, model.weights_, config.norm_offset}, ends));
  return model;
}

// Buffers keep their addresses and only change their row counts, so that a device can capture a
// step.
Llama::Buffers Llama::cut(Shape shape) const {
  Buffers buffers = buffers_;
  for (Tensor* each : {&buffers.residual, &buffers.delta, &buffers.normed, &buffers.qkv, &buffers.heads, &buffers.gate_up,
                       &buffers.gated, &buffers.features}) {
    each->rows = shape.rows;
  }
  for (Tensor* each : {&buffers.wanted_residual, &buffers.wanted_delta, &buffers.wanted_normed, &buffers.logits,
                       &buffers.sampled_tokens, &buffers.ranked}) {
    each->rows = shape.wanted;
  }
  return buffers;
}

// Head norms come before the rotation, as in the references of Qwen3 and Gemma 3.
void Llama::attend(Ops& ops, const Layer& layer, int index, const Buffers& at) const {
  linear(ops, at.normed, *layer.qkv, layer.qkv_bias, at.qkv);
  if (layer.query_norm != nullptr) {
    ops.norm_heads(at.qkv, 0, heads_, *layer.query_norm, eps_);
    ops.norm_heads(at.qkv, heads_, kv_heads_, *layer.key_norm, eps_);
  }
  ops.rope_store(at.qkv, *layer.rope, *cache_, index);
  ops.attend(at.qkv, *cache_, index, layer.rules, at.heads);
  linear(ops, at.heads, *layer.attention_out, layer.out_bias, at.delta);
  if (layer.attention_post_norm != nullptr) {
    ops.add_rms_norm(at.delta, nullptr, *layer.attention_post_norm, eps_, at.delta);
  }
}

void Llama::feed_forward(Ops& ops, const Layer& layer, const Buffers& at) const {
  linear(ops, at.normed, *layer.gate_up, nullptr, at.gate_up);
  gelu_ ? ops.gelu_gate(at.gate_up, at.gated) : ops.silu_gate(at.gate_up, at.gated);
  linear(ops, at.gated, *layer.down, nullptr, at.delta);
  if (layer.mlp_post_norm != nullptr) ops.add_rms_norm(at.delta, nullptr, *layer.mlp_post_norm, eps_, at.delta);
}

void Llama::linear(Ops& ops, Tensor in, const Weight& weight, const Weight* bias, Tensor out) const {
  fine_rows_ ? ops.linear_fine(in, weight, bias, out) : ops.linear(in, weight, bias, out);
}

// Keeps the residual as that layer reads it, if it is tapped.
void Llama::tap(Ops& ops, int32_t layer, const Buffers& at) const {
  const auto found = std::ranges::find(taps_, layer);
  if (found == taps_.end()) return;
  ops.put_columns(at.residual, at.features, static_cast<int32_t>(found - taps_.begin()) * at.residual.cols);
}

// Pre-norm blocks: each block's output is added to the residual by the norm of the next one, so
// that one op reads the residual once. The head runs over wanted rows only: it is the largest
// matrix.
void Llama::forward(Ops& ops, Shape shape) const {
  const Buffers at = cut(shape);
  ops.embed(*embedding_, embedding_scale_, at.residual);
  const Tensor* delta = nullptr;  // output of the block before, not yet added to the residual
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const int index = static_cast<int>(i);
    ops.add_rms_norm(at.residual, delta, *layer.input_norm, eps_, at.normed);
    tap(ops, index, at);
    attend(ops, layer, index, at);
    ops.add_rms_norm(at.residual, &at.delta, *layer.mlp_norm, eps_, at.normed);
    feed_forward(ops, layer, at);
    delta = &at.delta;
  }
  if (const auto layers = static_cast<int32_t>(layers_.size()); !taps_.empty() && taps_.back() == layers) {
    // The last block's output is needed of all rows, and is added here; wanted rows go on without a
    // delta.
    ops.add_rms_norm(at.residual, delta, *final_norm_, eps_, at.normed);
    tap(ops, layers, at);
    delta = nullptr;
  }
  if (shape.wanted == 0) return;  // the step has prompt chunks only, none of them the last of its prompt
  ops.gather(at.residual, at.wanted_residual);
  if (delta != nullptr) ops.gather(at.delta, at.wanted_delta);
  ops.add_rms_norm(at.wanted_residual, delta == nullptr ? nullptr : &at.wanted_delta, *final_norm_, eps_, at.wanted_normed);
  if (screen_ != nullptr) return ops.sample_screened(at.wanted_normed, *head_, *screen_, at.logits, at.sampled_tokens);
  ops.linear_fine(at.wanted_normed, *head_, nullptr, at.logits);
  if (logits_soft_cap_ > 0) ops.soft_cap(at.logits, logits_soft_cap_);
  if (at.ranked.data == nullptr) {
    ops.sample_tokens(at.logits, at.sampled_tokens);
  } else {
    ops.rank(at.logits, at.ranked);
  }
}

}  // namespace slipstream
