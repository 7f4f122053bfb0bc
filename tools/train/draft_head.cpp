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

// Row i becomes row i + by; zeros come before, and as many rows fall out behind. x: [n, rows,
// cols].
at::Tensor shifted(const at::Tensor& x, int64_t by) {
  if (by == 0) return x;
  const int64_t rows = x.size(1);
  const at::Tensor zeros = at::zeros({x.size(0), std::min(by, rows), x.size(2)}, x.options());
  return at::cat({zeros, x.narrow(1, 0, std::max<int64_t>(0, rows - by))}, 1);
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
      trained_{.fuse = weights.at("fc.weight"),
               .query = weights.at("midlayer.self_attn.q_proj.weight"),
               .key = weights.at("midlayer.self_attn.k_proj.weight"),
               .value = weights.at("midlayer.self_attn.v_proj.weight"),
               .output = weights.at("midlayer.self_attn.o_proj.weight"),
               .gate = weights.at("midlayer.mlp.gate_proj.weight"),
               .up = weights.at("midlayer.mlp.up_proj.weight"),
               .down = weights.at("midlayer.mlp.down_proj.weight")},
      embedding_norm_(weights.at("midlayer.input_layernorm.weight")),
      residual_norm_(weights.at("midlayer.hidden_norm.weight")),
      mlp_norm_(weights.at("midlayer.post_attention_layernorm.weight")),
      norm_(weights.at("norm.weight")),
      head_(weights.at("lm_head.weight")),
      rotary_(config.target, tokens_max, head_.device()) {}

// Converting a matrix, and its gradient back, takes as long as some hundred rows: it is done once
// an unrolling.
DraftHead::Matrices DraftHead::computing() const {
  return {.fuse = trained_.fuse.to(compute_),
          .query = trained_.query.to(compute_),
          .key = trained_.key.to(compute_),
          .value = trained_.value.to(compute_),
          .output = trained_.output.to(compute_),
          .gate = trained_.gate.to(compute_),
          .up = trained_.up.to(compute_),
          .down = trained_.down.to(compute_)};
}

at::Tensor DraftHead::normed(const at::Tensor& out) const { return at::rms_norm(out, {hidden_}, norm_, eps_); }

at::Tensor DraftHead::output() const { return head_.requires_grad() ? head_ : head_.to(compute_); }

at::Tensor DraftHead::logits(const at::Tensor& normed, const at::Tensor& output) const {
  return linear(normed, output, {}, compute_).to(at::kFloat);
}

std::vector<at::Tensor> DraftHead::unroll(const HeadInput& input, int steps) const {
  const int64_t rows = input.features.size(1) - input.first;
  Unrolling unrolling{.matrices = computing(), .caches = {}};
  const at::Tensor fused = shifted(linear(input.features, unrolling.matrices.fuse, {}, compute_).to(at::kFloat), 1);
  const at::Tensor embedded = at::rms_norm(input.embeddings, {hidden_}, embedding_norm_, eps_);
  const at::Tensor of_all = attention_input({embedded, fused, 0});
  const at::Tensor embedding = embedded.narrow(1, input.first, rows);
  unrolling.caches.push_back(cache_of(unrolling.matrices, of_all, 0));
  std::vector<at::Tensor> outs{
      block(unrolling, {embedding, fused.narrow(1, input.first, rows), input.first}, of_all.narrow(1, input.first, rows))};
  while (static_cast<int>(outs.size()) < steps) {
    const Rows read{embedding, shifted(outs.back(), 1), input.first};
    const at::Tensor of_rows = attention_input(read);
    unrolling.caches.push_back(cache_of(unrolling.matrices, of_rows, input.first));
    outs.push_back(block(unrolling, read, of_rows));
  }
  return outs;
}

// [chats, rows, 2 hidden] in the type of computing.
at::Tensor DraftHead::attention_input(const Rows& rows) const {
  return at::cat({rows.embedding, at::rms_norm(rows.residual, {hidden_}, residual_norm_, eps_)}, 2).to(compute_);
}

// [chats, rows, in] -> [chats, heads, rows, head_size]
at::Tensor DraftHead::projected(const at::Tensor& x, const at::Tensor& weight, int64_t heads) const {
  return linear(x, weight, {}, compute_).view({x.size(0), x.size(1), heads, head_size_}).transpose(1, 2);
}

DraftHead::Cache DraftHead::cache_of(const Matrices& matrices, const at::Tensor& input, int64_t position) const {
  const at::Tensor key = rotary_.rotate(projected(input, matrices.key, kv_heads_), position);
  return {key.flatten(0, 1), projected(input, matrices.value, kv_heads_).flatten(0, 1)};
}

at::Tensor DraftHead::block(const Unrolling& unrolling, const Rows& rows, const at::Tensor& input) const {
  const Matrices& matrices = unrolling.matrices;
  const at::Tensor query = rotary_.rotate(projected(input, matrices.query, heads_), rows.position);
  const at::Tensor attended = attend(query, unrolling.caches, rows.position);
  const at::Tensor residual = rows.residual + linear(attended, matrices.output, {}, compute_);
  const at::Tensor normed = at::rms_norm(residual, {hidden_}, mlp_norm_, eps_).to(compute_);
  const at::Tensor gated = at::silu(linear(normed, matrices.gate, {}, compute_)) * linear(normed, matrices.up, {}, compute_);
  return residual + linear(gated, matrices.down, {}, compute_);
}

// query: [chats, heads, rows, head_size] of the last of these steps; its row r has the position
// first + r. Step 0 has keys of all tokens, the others of those rows. Returns [chats, rows, heads *
// head_size].
at::Tensor DraftHead::attend(const at::Tensor& query, std::span<const Cache> steps, int64_t first) const {
  const auto step = static_cast<int64_t>(steps.size()) - 1;
  const int64_t chats = query.size(0), rows = query.size(2), tokens = steps[0].key.size(1);
  // The query heads that share a key head stand one behind the other.
  const int64_t all = chats * kv_heads_, shared = heads_ / kv_heads_;
  const at::Tensor grouped =
      (query * (1 / std::sqrt(static_cast<double>(head_size_)))).reshape({all, shared * rows, head_size_});
  const at::Tensor split = grouped.view({all, shared, rows, head_size_});
  const auto numbers = query.options().dtype(at::kLong);
  const at::Tensor row = at::arange(rows, numbers).unsqueeze(1);
  const at::Tensor unseen = at::arange(tokens, numbers).unsqueeze(0) > row + (first - step);
  std::vector<at::Tensor> scores{at::bmm(grouped, steps[0].key.transpose(1, 2))
                                     .to(at::kFloat)
                                     .view({all, shared, rows, tokens})
                                     .masked_fill(unseen, kHidden)};
  for (int64_t m = 1; m <= step; ++m) {
    const at::Tensor key = shifted(steps[static_cast<size_t>(m)].key, step - m).unsqueeze(1);
    scores.push_back((split * key).sum({-1}, /*keepdim=*/true, at::kFloat).masked_fill(row < step - m, kHidden));
  }
  const at::Tensor weights = at::softmax(at::cat(scores, -1), -1).to(compute_);
  const at::Tensor of_context = weights.narrow(3, 0, tokens).reshape({all, shared * rows, tokens});
  at::Tensor mixed = at::bmm(of_context, steps[0].value).view({all, shared, rows, head_size_});
  for (int64_t m = 1; m <= step; ++m) {
    const at::Tensor value = shifted(steps[static_cast<size_t>(m)].value, step - m).unsqueeze(1);
    mixed = mixed + weights.narrow(3, tokens + m - 1, 1) * value;
  }
  return mixed.reshape({chats, heads_, rows, head_size_}).transpose(1, 2).reshape({chats, rows, heads_ * head_size_});
}

}  // namespace slipstream::train
