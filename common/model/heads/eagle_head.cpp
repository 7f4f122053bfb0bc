#include "common/model/heads/eagle_head.h"

#include "common/checkpoint/checkpoint.h"
#include "common/checkpoint/rope_frequencies.h"
#include "common/model/weight_loader.h"

namespace slipstream {

Result<void> head_fits(const HeadConfig& head, const LlamaConfig& target, uint64_t target_weights, const std::string& folder) {
  if (head.layer.hidden != target.hidden || head.layer.vocabulary != target.vocabulary) {
    return fail("the draft head {} is for a model of {} numbers a token and {} tokens; this one has {} and {}", folder,
                head.layer.hidden, head.layer.vocabulary, target.hidden, target.vocabulary);
  }
  if (head.taps.empty() && target.layers < 6) {
    return fail("the draft head {} names no layers to read, and a model of {} layers has no usual ones", folder, target.layers);
  }
  if (!head.taps.empty() && head.taps.back() > target.layers) {
    return fail("the draft head {} reads layer {}; the model has {}", folder, head.taps.back(), target.layers);
  }
  if (head.target_weights && *head.target_weights != target_weights) {
    return fail(
        "the draft head {} was trained for other weights ({:016x}; the model's are {:016x}): it would guess badly. Do without "
        "(--head none; of a drafter, another --method), or train one for this model (docs/use/TRAIN.md)",
        folder, *head.target_weights, target_weights);
  }
  return {};
}

Result<void> EagleHead::load_weights(const std::filesystem::path& folder, const HeadConfig& config, Device& device) {
  TRY(const Checkpoint checkpoint, Checkpoint::open(folder));
  std::vector<const Weight*> weights;
  const WeightLoader load{checkpoint, &device, Format::guess, {}, weights};
  const LlamaConfig& layer = config.layer;
  const int32_t hidden = layer.hidden, q = layer.heads * layer.head_size, kv = layer.kv_heads * layer.head_size;
  const std::string at = "midlayer.";
  if (part_ != HeadPart::drafts) {
    TRY(fc_, load.stack({{"fc.weight", hidden}}, static_cast<int32_t>(config.taps.size()) * hidden));
  }
  if (!drafts()) return {};
  TRY(embedding_norm_, load.gain(at + "input_layernorm.weight", hidden));
  TRY(feature_norm_, load.gain(at + "hidden_norm.weight", hidden));
  const std::vector<WeightLoader::Part> kv_parts{{at + "self_attn.k_proj.weight", kv}, {at + "self_attn.v_proj.weight", kv}};
  std::vector<WeightLoader::Part> parts{{at + "self_attn.q_proj.weight", q}};
  parts.insert(parts.end(), kv_parts.begin(), kv_parts.end());
  TRY(qkv_, load.stack(parts, 2 * hidden));
  TRY(kv_, load.stack(kv_parts, 2 * hidden));
  TRY(attention_out_, load.stack({{at + "self_attn.o_proj.weight", hidden}}, q));
  TRY(mlp_norm_, load.gain(at + "post_attention_layernorm.weight", hidden));
  TRY(gate_up_,
      load.stack({{at + "mlp.gate_proj.weight", layer.intermediate}, {at + "mlp.up_proj.weight", layer.intermediate}}, hidden));
  TRY(down_, load.stack({{at + "mlp.down_proj.weight", hidden}}, layer.intermediate));
  TRY(final_norm_, load.gain("norm.weight", hidden));
  TRY(head_, load.stack({{"lm_head.weight", static_cast<int32_t>(config.tokens.size())}}, hidden));
  return {};
}

Result<void> EagleHead::make_buffers(const HeadConfig& config, Device& device, const EagleHeadOptions& options) {
  const LlamaConfig& layer = config.layer;
  const int32_t rows = options.rows_max, q = layer.heads * layer.head_size, kv = layer.kv_heads * layer.head_size;
  const Type kept = device.activations();
  TRY(buffers_.fused, device.scratch(rows, layer.hidden, kept));
  if (!drafts()) return {};
  for (Tensor* each : {&buffers_.embedded, &buffers_.feature, &buffers_.normed, &buffers_.delta}) {
    TRY(*each, device.scratch(rows, layer.hidden, kept));
  }
  TRY(buffers_.input, device.scratch(rows, 2 * layer.hidden, kept));
  TRY(buffers_.qkv, device.scratch(rows, q + 2 * kv, kept));
  TRY(buffers_.kv, device.scratch(rows, 2 * kv, kept));
  TRY(buffers_.heads, device.scratch(rows, q, kept));
  TRY(buffers_.gate_up, device.scratch(rows, 2 * layer.intermediate, kept));
  TRY(buffers_.gated, device.scratch(rows, layer.intermediate, kept));
  TRY(buffers_.columns, device.scratch(rows, static_cast<int32_t>(config.tokens.size()), Type::f32));
  TRY(buffers_.logits, device.output(rows, layer.vocabulary, Type::f32));
  if (takes_extra()) {
    TRY(buffers_.extra, device.scratch(rows, kExtraTokens, Type::f32));
  }
  TRY(buffers_.ranked, device.output(rows, options.ranked * kRankedWords, Type::i32));
  if (options.traced) {
    TRY(buffers_.states, device.output(rows, layer.hidden, Type::f32));
  }
  return {};
}

Result<EagleHead> EagleHead::load(const std::filesystem::path& folder, const HeadConfig& config, const Llama& target,
                                  Device& device, const EagleHeadOptions& options) {
  EagleHead head;
  const LlamaConfig& layer = config.layer;
  head.part_ = options.part;
  head.eps_ = layer.rms_eps;
  head.embedding_ = target.embedding();
  if (config.target_output) head.target_output_ = target.output();
  TRY_VOID(head.load_weights(folder, config, device));
  TRY(head.plane_, device.feature_plane(layer.hidden, options.cache_blocks));
  TRY_VOID(head.make_buffers(config, device, options));
  if (!head.drafts()) return head;
  TRY(head.rope_, device.rope(rope_frequencies(layer), rope_factor(layer), options.positions));
  const AttentionShape shape{.heads = layer.heads, .kv_heads = layer.kv_heads, .head_size = layer.head_size};
  TRY(head.cache_, device.cache(1, shape, options.cache_blocks, options.positions));
  TRY(head.columns_, device.column_map(config.tokens, layer.vocabulary));
  TRY(head.acceptance_, AcceptanceHead::load(folder, options.hash, layer.hidden, device, options.rows_max));
  return head;
}

EagleHead::Buffers EagleHead::cut(int32_t rows) const {
  Buffers buffers = buffers_;
  for (Tensor* each : {&buffers.fused, &buffers.embedded, &buffers.feature, &buffers.normed, &buffers.delta, &buffers.input,
                       &buffers.qkv, &buffers.kv, &buffers.heads, &buffers.gate_up, &buffers.gated, &buffers.columns,
                       &buffers.logits, &buffers.ranked, &buffers.extra, &buffers.states}) {
    each->rows = rows;
  }
  return buffers;
}

// The layer's input of each row.
void EagleHead::read(Ops& ops, const Buffers& at) const {
  ops.embed(*embedding_, 1, at.embedded);
  ops.add_rms_norm(at.embedded, nullptr, *embedding_norm_, eps_, at.normed);
  ops.put_columns(at.normed, at.input, 0);
  ops.load_features(*plane_, at.feature);
  ops.add_rms_norm(at.feature, nullptr, *feature_norm_, eps_, at.normed);
  ops.put_columns(at.normed, at.input, at.normed.cols);
}

void EagleHead::observe(Ops& ops, Shape shape, Tensor features) const {
  const Buffers at = cut(shape.rows);
  features.rows = shape.rows;
  ops.linear(features, *fc_, nullptr, at.fused);
  ops.store_features(at.fused, *plane_);
  if (drafts()) observe_kept(ops, shape);
}

void EagleHead::observe_kept(Ops& ops, Shape shape) const {
  const Buffers at = cut(shape.rows);
  read(ops, at);
  ops.linear(at.input, *kv_, nullptr, at.kv);
  ops.rope_store(at.kv, *rope_, *cache_, 0);
}

void EagleHead::draft(Ops& ops, Shape shape, bool scored) const {
  const Buffers at = cut(shape.rows);
  read(ops, at);
  ops.linear(at.input, *qkv_, nullptr, at.qkv);
  ops.rope_store(at.qkv, *rope_, *cache_, 0);
  ops.attend(at.qkv, *cache_, 0, {}, at.heads);
  ops.linear(at.heads, *attention_out_, nullptr, at.delta);
  ops.add_rms_norm(at.feature, &at.delta, *mlp_norm_, eps_, at.normed);
  ops.linear(at.normed, *gate_up_, nullptr, at.gate_up);
  ops.silu_gate(at.gate_up, at.gated);
  ops.linear(at.gated, *down_, nullptr, at.delta);
  ops.add_rms_norm(at.feature, &at.delta, *final_norm_, eps_, at.normed);
  ops.store_features(at.feature, *plane_);  // for the rows below, until the target's pass writes its own
  ops.linear(at.normed, *head_, nullptr, at.columns);
  if (takes_extra()) ops.linear_extra(at.normed, *target_output_, at.extra);
  const Tensor* extra = takes_extra() ? &at.extra : nullptr;
  ops.rank_columns(at.columns, *columns_, extra, at.logits, at.ranked);
  if (scored) ops.spread_columns(at.columns, *columns_, extra, at.logits);
  if (at.states.data != nullptr) ops.put_columns(at.normed, at.states, 0);
  if (acceptance_) acceptance_->predict(ops, at.normed);
}

}  // namespace slipstream
