#include "common/model/torch/torch_attention.h"

#include <bit>
#include <cmath>
#include <limits>

#include <ATen/ATen.h>
#include <ATen/TensorIndexing.h>

#include "common/model/torch/torch_step.h"

namespace slipstream {
namespace {

using at::indexing::Slice;

constexpr int kKeys = 0, kValues = 1;  // of a cache's third dimension

// The positions that a row sees: [0, visible), then those of its ancestors in the tree; of these
// the last `window`.
template <class Seen>
void each_seen(const Step& step, size_t row, int32_t window, const Seen& seen) {
  const int32_t visible = step.visible[row], keys = visible + std::popcount(step.ancestors[row]);
  const int32_t first = window == kWholePath ? 0 : std::max(0, keys - window);
  for (int32_t position = first; position < visible; ++position) seen(position);
  int32_t key = visible;
  for (uint64_t left = step.ancestors[row]; left != 0; left &= left - 1, ++key) {
    if (key >= first) seen(visible + std::countr_zero(left));
  }
}

// Behind the last position that a row sees.
int32_t end_of(const Step& step, size_t row) {
  return step.visible[row] + static_cast<int32_t>(std::bit_width(step.ancestors[row]));
}

std::span<const int32_t> blocks_of(const Step& step, int32_t sequence) {
  const auto wide = static_cast<size_t>(step.blocks_max);
  return step.block_table.subspan(static_cast<size_t>(sequence) * wide, wide);
}

}  // namespace

void TorchAttention::begin(const Step& step) {
  step_ = &step;
  listed_.reset();
}

void TorchAttention::list(const AttentionRules& rules) {
  rules_ = rules;
  if (listed_ == rules.window) return;
  listed_ = rules.window;
  place_.deterministic ? list_rows(*step_, rules.window) : list_sequences(*step_, rules.window);
}

double TorchAttention::scale(int64_t head_size) const {
  return rules_.scale != 0 ? double{rules_.scale} : 1.0 / std::sqrt(static_cast<double>(head_size));
}

at::Tensor TorchAttention::capped(const at::Tensor& scores) const {
  return rules_.soft_cap == 0 ? scores : scores.div(rules_.soft_cap).tanh_().mul_(rules_.soft_cap);
}

void TorchAttention::list_sequences(const Step& step, int32_t window) {
  sequences_.clear();
  const auto tables = step.blocks_max == 0 ? size_t{0} : step.block_table.size() / static_cast<size_t>(step.blocks_max);
  std::vector<std::vector<int32_t>> rows(tables);
  for (size_t row = 0; row < step.sequence.size(); ++row) {
    rows[static_cast<size_t>(step.sequence[row])].push_back(static_cast<int32_t>(row));
  }
  for (size_t sequence = 0; sequence < tables; ++sequence) {
    if (rows[sequence].empty()) continue;
    int32_t end = 0;
    for (const int32_t row : rows[sequence]) end = std::max(end, end_of(step, static_cast<size_t>(row)));
    const int32_t blocks = (end + kBlockTokens - 1) / kBlockTokens;
    const at::Tensor seen = at::zeros({static_cast<int64_t>(rows[sequence].size()), int64_t{blocks} * kBlockTokens}, at::kBool);
    auto* at = seen.mutable_data_ptr<bool>();
    for (const int32_t row : rows[sequence]) {
      each_seen(step, static_cast<size_t>(row), window, [&](int32_t position) { at[position] = true; });
      at += int64_t{blocks} * kBlockTokens;
    }
    const auto table = blocks_of(step, static_cast<int32_t>(sequence)).first(static_cast<size_t>(blocks));
    sequences_.push_back({index_tensor(rows[sequence], place_), index_tensor(table, place_), seen.to(place_.device)});
  }
}

void TorchAttention::list_rows(const Step& step, int32_t window) {
  rows_.clear();
  std::vector<int32_t> blocks, offsets;
  for (size_t row = 0; row < step.sequence.size(); ++row) {
    blocks.clear();
    offsets.clear();
    const auto table = blocks_of(step, step.sequence[row]);
    each_seen(step, row, window, [&](int32_t position) {
      blocks.push_back(table[static_cast<size_t>(position / kBlockTokens)]);
      offsets.push_back(position % kBlockTokens);
    });
    rows_.push_back({index_tensor(blocks, place_), index_tensor(offsets, place_)});
  }
}

// cache: of one layer, [blocks, kv_heads, 2, kBlockTokens, head_size]; queries: [rows, heads,
// head_size]. torch's own attention has no soft caps.
void TorchAttention::attend_together(const Sequence& sequence, const at::Tensor& queries, const at::Tensor& cache,
                                     const at::Tensor& out) const {
  const at::Tensor blocks = cache.index_select(0, sequence.blocks);
  const int64_t kv_heads = blocks.size(1), size = blocks.size(4), positions = blocks.size(0) * kBlockTokens;
  const auto of = [&](int part) {  // [1, kv_heads, positions, head_size]
    return blocks.select(2, part).permute({1, 0, 2, 3}).reshape({1, kv_heads, positions, size});
  };
  const at::Tensor query = queries.index_select(0, sequence.rows).permute({1, 0, 2}).unsqueeze(0);
  at::Tensor result;
  if (rules_.soft_cap == 0) {
    result = at::scaled_dot_product_attention(query, of(kKeys), of(kValues), sequence.seen, 0.0, false, scale(size),
                                              /*enable_gqa=*/true);
  } else {
    const int64_t rows = query.size(2), group = query.size(1) / kv_heads;
    const at::Tensor own = query.to(at::kFloat).mul(scale(size)).reshape({kv_heads, group * rows, size});
    const at::Tensor keys = of(kKeys).squeeze(0).to(at::kFloat), values = of(kValues).squeeze(0).to(at::kFloat);
    const at::Tensor scores = capped(at::bmm(own, keys.transpose(1, 2))).view({kv_heads, group, rows, positions});
    const at::Tensor weights = scores.masked_fill(sequence.seen.logical_not(), -std::numeric_limits<float>::infinity());
    result = at::bmm(weights.softmax(-1).view({kv_heads, group * rows, positions}), values)
                 .view({1, kv_heads * group, rows, size})
                 .to(query.scalar_type());
  }
  out.index_copy_(0, sequence.rows, result.squeeze(0).permute({1, 0, 2}).reshape({query.size(2), -1}));
}

// query: [heads, head_size]; out: [heads * head_size].
void TorchAttention::attend_alone(const Row& row, const at::Tensor& query, const at::Tensor& cache,
                                  const at::Tensor& out) const {
  const int64_t kv_heads = cache.size(1), size = cache.size(4);
  const auto of = [&](int part) {  // [kv_heads, positions seen, head_size]
    return cache.select(2, part).index({row.blocks, Slice(), row.offsets}).to(at::kFloat).permute({1, 0, 2}).contiguous();
  };
  const at::Tensor scaled = query.to(at::kFloat).mul(scale(size)).reshape({kv_heads, -1, size});
  const at::Tensor weights = capped(at::bmm(scaled, of(kKeys).transpose(1, 2))).softmax(-1);
  out.copy_(at::bmm(weights, of(kValues)).reshape({-1}));
}

void TorchAttention::run(const at::Tensor& qkv, const TorchCache& cache, int layer, const at::Tensor& out) const {
  const at::Tensor of_layer = cache.data.select(0, layer);
  const at::Tensor queries = qkv.narrow(1, 0, out.size(1)).view({qkv.size(0), -1, of_layer.size(4)});
  for (const Sequence& sequence : sequences_) attend_together(sequence, queries, of_layer, out);
  for (size_t row = 0; row < rows_.size(); ++row) {
    const auto at = static_cast<int64_t>(row);
    attend_alone(rows_[row], queries[at], of_layer, out[at]);
  }
}

}  // namespace slipstream
