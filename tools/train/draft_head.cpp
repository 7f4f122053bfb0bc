#include "tools/train/draft_head.h"

#include <cmath>
#include <limits>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include "tools/train/llama_block.h"

namespace slipstream::train {
namespace {

// Row i becomes row i + by; zeros come before, and as many rows fall out behind. Dimension 0 of two,
// or 1 of three.
at::Tensor shifted(const at::Tensor& x, int64_t by) {
  if (by == 0) return x;
  const int64_t rows = x.dim() - 2;
  std::vector<int64_t> shape = x.sizes().vec();
  shape[static_cast<size_t>(rows)] = std::min(by, x.size(rows));
  const at::Tensor zeros = at::zeros(shape, x.options());
  return at::cat({zeros, x.narrow(rows, 0, std::max<int64_t>(0, x.size(rows) - by))}, rows);
}

constexpr double kHidden = -std::numeric_limits<double>::infinity();  // a score that gives no weight

}  // namespace

DraftHead::DraftHead(const HeadConfig& config, const Weights& weights, int64_t tokens_max, at::ScalarType compute)
    : hidden_(config.target.hidden),
      heads_(config.target.heads),
      kv_heads_(config.target.kv_heads),
      head_size_(config.target.head_size),
      eps_(config.target.rms_eps),
      compute_(compute),
      fuse_(weights.at("fc.weight")),
      embedding_norm_(weights.at("midlayer.input_layernorm.weight")),
      residual_norm_(weights.at("midlayer.hidden_norm.weight")),
      query_(weights.at("midlayer.self_attn.q_proj.weight")),
      key_(weights.at("midlayer.self_attn.k_proj.weight")),
      value_(weights.at("midlayer.self_attn.v_proj.weight")),
      output_(weights.at("midlayer.self_attn.o_proj.weight")),
      mlp_norm_(weights.at("midlayer.post_attention_layernorm.weight")),
      gate_(weights.at("midlayer.mlp.gate_proj.weight")),
      up_(weights.at("midlayer.mlp.up_proj.weight")),
      down_(weights.at("midlayer.mlp.down_proj.weight")),
      norm_(weights.at("norm.weight")),
      head_(weights.at("lm_head.weight")),
      rotary_(config.target, tokens_max) {}

at::Tensor DraftHead::logits(const at::Tensor& out) const {
  return linear(at::rms_norm(out, {hidden_}, norm_, eps_), head_, {}, compute_).to(at::kFloat);
}

std::vector<at::Tensor> DraftHead::unroll(const HeadInput& input, int steps) const {
  const int64_t rows = input.features.size(0) - input.first;
  const at::Tensor fused = shifted(linear(input.features, fuse_, {}, compute_).to(at::kFloat), 1);
  const at::Tensor embedded = at::rms_norm(input.embeddings, {hidden_}, embedding_norm_, eps_);
  const at::Tensor of_all = attention_input({embedded, fused, 0});
  const at::Tensor embedding = embedded.narrow(0, input.first, rows);
  std::vector<Cache> caches{cache_of(of_all, 0)};
  std::vector<at::Tensor> outs{
      block({embedding, fused.narrow(0, input.first, rows), input.first}, of_all.narrow(0, input.first, rows), caches)};
  while (static_cast<int>(outs.size()) < steps) {
    const Rows read{embedding, shifted(outs.back(), 1), input.first};
    const at::Tensor of_rows = attention_input(read);
    caches.push_back(cache_of(of_rows, input.first));
    outs.push_back(block(read, of_rows, caches));
  }
  return outs;
}

// [rows, 2 hidden] in the type of computing.
at::Tensor DraftHead::attention_input(const Rows& rows) const {
  return at::cat({rows.embedding, at::rms_norm(rows.residual, {hidden_}, residual_norm_, eps_)}, 1).to(compute_);
}

// [rows, in] -> [heads, rows, head_size]
at::Tensor DraftHead::projected(const at::Tensor& x, const at::Tensor& weight, int64_t heads) const {
  return linear(x, weight, {}, compute_).view({x.size(0), heads, head_size_}).transpose(0, 1);
}

DraftHead::Cache DraftHead::cache_of(const at::Tensor& input, int64_t position) const {
  const at::Tensor key = projected(input, key_, kv_heads_).unsqueeze(0);
  return {rotary_.rotate(key, position).squeeze(0), projected(input, value_, kv_heads_).contiguous()};
}

at::Tensor DraftHead::block(const Rows& rows, const at::Tensor& input, std::span<const Cache> steps) const {
  const at::Tensor query = rotary_.rotate(projected(input, query_, heads_).unsqueeze(0), rows.position).squeeze(0);
  const at::Tensor attended = attend(query, steps, rows.position);
  const at::Tensor residual = rows.residual + linear(attended, output_, {}, compute_);
  const at::Tensor normed = at::rms_norm(residual, {hidden_}, mlp_norm_, eps_).to(compute_);
  const at::Tensor gated = at::silu(linear(normed, gate_, {}, compute_)) * linear(normed, up_, {}, compute_);
  return residual + linear(gated, down_, {}, compute_);
}

// query: [heads, rows, head_size] of the last of these steps; its row r has the position first + r.
// Step 0 has keys of all tokens, the others of those rows. Returns [rows, heads * head_size].
at::Tensor DraftHead::attend(const at::Tensor& query, std::span<const Cache> steps, int64_t first) const {
  const auto step = static_cast<int64_t>(steps.size()) - 1;
  const int64_t rows = query.size(1), tokens = steps[0].key.size(1), shared = heads_ / kv_heads_;
  // The query heads that share a key head stand one behind the other.
  const at::Tensor grouped = (query * (1 / std::sqrt(static_cast<double>(head_size_)))).reshape({kv_heads_, shared * rows, head_size_});
  const at::Tensor split = grouped.view({kv_heads_, shared, rows, head_size_});
  const at::Tensor position = at::arange(first, first + rows).unsqueeze(1);
  const at::Tensor unseen = at::arange(tokens).unsqueeze(0) > position - step;
  std::vector<at::Tensor> scores{
      at::bmm(grouped, steps[0].key.transpose(1, 2)).to(at::kFloat).view({kv_heads_, shared, rows, tokens}).masked_fill(unseen, kHidden)};
  for (int64_t m = 1; m <= step; ++m) {
    const at::Tensor key = shifted(steps[static_cast<size_t>(m)].key, step - m).unsqueeze(1);
    const at::Tensor missing = (at::arange(rows) < step - m).unsqueeze(1);
    scores.push_back((split * key).sum({-1}, /*keepdim=*/true, at::kFloat).masked_fill(missing, kHidden));
  }
  const at::Tensor weights = at::softmax(at::cat(scores, -1), -1).to(compute_);
  const at::Tensor of_context = weights.narrow(3, 0, tokens).reshape({kv_heads_, shared * rows, tokens});
  at::Tensor mixed = at::bmm(of_context, steps[0].value).view({kv_heads_, shared, rows, head_size_});
  for (int64_t m = 1; m <= step; ++m) {
    const at::Tensor value = shifted(steps[static_cast<size_t>(m)].value, step - m).unsqueeze(1);
    mixed = mixed + weights.narrow(3, tokens + m - 1, 1) * value;
  }
  return mixed.reshape({heads_, rows, head_size_}).transpose(0, 1).reshape({rows, heads_ * head_size_});
}

}  // namespace slipstream::train
