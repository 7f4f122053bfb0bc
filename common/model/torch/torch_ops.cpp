#include "common/model/torch/torch_ops.h"

#include <array>
#include <limits>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/TensorIndexing.h>

#include "common/base/check_beside_torch.h"
#include "common/model/torch/gpu.h"
#include "common/sampling/near_tie.h"

namespace slipstream {
namespace {

using at::indexing::Slice;

constexpr float kNever = -std::numeric_limits<float>::infinity();  // the logit of a token that is not drafted

// Rows that are multiplied together where bits may not depend on their number: few, as a CPU
// computes for each row.
constexpr int64_t kProductRows = 8;

// What a logit may differ by where rows are rounded otherwise. In bf16 no flip was seen beyond 0.16
// nats (docs/lab/STATUS.md); f16 keeps three bits more, and f32 is off by less than 1e-3.
constexpr float kNearTieNats = 1e-3F, kNearTieNatsF16 = 0.05F, kNearTieNatsBf16 = 0.25F;

// rows / rms(rows) * gain over the last dimension, in f32.
at::Tensor normed(const at::Tensor& rows, const at::Tensor& gain, float eps) {
  const at::Tensor exact = rows.to(at::kFloat);
  return exact.mul(exact.square().mean(-1, true).add(eps).rsqrt()).mul(gain.view({-1}));
}

}  // namespace

at::ScalarType scalar(Type type) {
  switch (type) {
    case Type::f32:
      return at::kFloat;
    case Type::bf16:
      return at::kBFloat16;
    case Type::f16:
      return at::kHalf;
    case Type::i32:
      break;
  }
  return at::kInt;
}

at::Tensor TorchPlace::view(const Tensor& tensor) const {
  return at::from_blob(tensor.data, {tensor.rows, tensor.cols}, of(scalar(tensor.type)));
}

Shape TorchOps::shape_of(const Step& step) {
  return {.rows = static_cast<int32_t>(step.token.size()), .wanted = static_cast<int32_t>(step.wanted.size())};
}

void TorchOps::begin(TorchStep numbers) {
  step_ = std::move(numbers);
  scratch_.resize(std::max(scratch_.size(), static_cast<size_t>(at::get_num_threads())));
  near_ties_.clear();
}

void TorchOps::run(const Network& network, const Step& step) {
  begin(TorchStep::on(place_, step));
  attention_.begin(step);
  for (const KvCache* cache : network.caches()) move(static_cast<const TorchCache&>(*cache), step.moves);
  for (const FeaturePlane* plane : network.planes()) move(static_cast<const TorchPlane&>(*plane), step.moves);
  network.forward(*this, shape_of(step));
  wait_for(place_.device);
}

// In order, because one may overwrite the source of an earlier one (BlockTable::commit).
void TorchOps::move(const TorchCache& cache, std::span<const KvMove> moves) {
  const auto row = [&](int32_t slot) {  // [layers, kv_heads, 2, head_size]
    return cache.data.select(1, slot / kBlockTokens).select(3, slot % kBlockTokens);
  };
  for (const KvMove& each : moves) row(each.to).copy_(row(each.from));
}

void TorchOps::move(const TorchPlane& plane, std::span<const KvMove> moves) {
  for (const KvMove& each : moves) plane.data[each.to].copy_(plane.data[each.from]);
}

template <class Run>
void TorchOps::by_rows(int64_t rows, const Run& run) const {
  if (!place_.deterministic) return run(int64_t{0}, rows);
  for (int64_t row = 0; row < rows; ++row) run(row, int64_t{1});
}

at::Tensor TorchOps::rows_of(const Weight& matrix, const at::Tensor& ids) const { return values(matrix).index_select(0, ids); }

void TorchOps::embed(const Weight& table, float scale, Tensor out) {
  const at::Tensor rows = rows_of(table, step_.token);
  place_.view(out).copy_(scale == 1 ? rows : rows.to(at::kFloat).mul(scale));
}

void TorchOps::add_rms_norm(Tensor residual, const Tensor* delta, const Weight& gain, float eps, Tensor out) {
  const at::Tensor all = place_.view(residual), result = place_.view(out);
  if (delta != nullptr) all.add_(place_.view(*delta));
  by_rows(all.size(0), [&](int64_t first, int64_t count) {
    result.narrow(0, first, count).copy_(normed(all.narrow(0, first, count), values(gain), eps));
  });
}

at::Tensor TorchOps::multiplied(const at::Tensor& in, const at::Tensor& weight) {
  if (!place_.deterministic) return at::mm(in, weight.t());
  constexpr int64_t bucket = kProductRows;
  const at::Tensor group = at::empty({bucket, in.size(1)}, in.options()),
                   out = at::empty({in.size(0), weight.size(0)}, in.options());
  for (int64_t first = 0; first < in.size(0); first += bucket) {
    const int64_t rows = std::min(bucket, in.size(0) - first);
    group.narrow(0, 0, rows).copy_(in.narrow(0, first, rows));
    if (rows < bucket) group.narrow(0, rows, bucket - rows).zero_();
    out.narrow(0, first, rows).copy_(at::mm(group, weight.t()).narrow(0, 0, rows));
  }
  return out;
}

void TorchOps::linear(Tensor in, const Weight& weight, const Weight* bias, Tensor out) {
  CHECK(in.cols == weight.in && out.cols == weight.out && in.rows == out.rows, "linear [{}, {}] -> [{}, {}] by [{}, {}]",
        in.rows, in.cols, out.rows, out.cols, weight.out, weight.in);
  const at::Tensor product = multiplied(place_.view(in).to(place_.type), values(weight));
  place_.view(out).copy_(bias == nullptr ? product : product.add(values(*bias).view({-1})));
}

void TorchOps::norm_heads(Tensor rows, int32_t first_head, int32_t heads, const Weight& gain, float eps) {
  const at::Tensor all = place_.view(rows).view({rows.rows, -1, gain.in}).narrow(1, first_head, heads);
  by_rows(all.size(0), [&](int64_t first, int64_t count) {
    const at::Tensor some = all.narrow(0, first, count);
    some.copy_(normed(some, values(gain), eps));
  });
}

void TorchOps::rope_store(Tensor qkv, const RopeTable& rope, KvCache& cache, int layer) {
  const auto& table = static_cast<const TorchRope&>(rope);
  at::Tensor store = static_cast<TorchCache&>(cache).data.select(0, layer);
  const int64_t kv_heads = store.size(1), size = store.size(4), half = size / 2;
  const at::Tensor rows = place_.view(qkv).view({qkv.rows, -1, size});
  const int64_t turned = rows.size(1) - kv_heads;  // queries and keys
  const at::Tensor cosine = table.cosine.index_select(0, step_.position).unsqueeze(1);
  const at::Tensor sine = table.sine.index_select(0, step_.position).unsqueeze(1);
  const at::Tensor left = rows.narrow(1, 0, turned).narrow(2, 0, half), right = rows.narrow(1, 0, turned).narrow(2, half, half);
  const at::Tensor a = left.to(at::kFloat, false, true), b = right.to(at::kFloat, false, true);
  left.copy_(a.mul(cosine).sub_(b.mul(sine)));
  right.copy_(b.mul(cosine).add_(a.mul(sine)));
  const at::Tensor pairs = rows.narrow(1, turned - kv_heads, 2 * kv_heads).view({qkv.rows, 2, kv_heads, size});
  store.index_put_({step_.block, Slice(), Slice(), step_.offset}, pairs.permute({0, 2, 1, 3}));
}

void TorchOps::attend(Tensor qkv, const KvCache& cache, int layer, const AttentionRules& rules, Tensor out) {
  attention_.list(rules);
  attention_.run(place_.view(qkv), static_cast<const TorchCache&>(cache), layer, place_.view(out));
}

template <class Activation>
void TorchOps::gate(Tensor gate_up, Tensor out, const Activation& activation) {
  const at::Tensor all = place_.view(gate_up), result = place_.view(out);
  const int64_t cols = out.cols;
  by_rows(all.size(0), [&](int64_t first, int64_t count) {
    const at::Tensor some = all.narrow(0, first, count);
    result.narrow(0, first, count).copy_(activation(some.narrow(1, 0, cols).contiguous()).mul_(some.narrow(1, cols, cols)));
  });
}

void TorchOps::silu_gate(Tensor gate_up, Tensor out) {
  gate(gate_up, out, [](const at::Tensor& rows) { return at::silu(rows); });
}

void TorchOps::gelu_gate(Tensor gate_up, Tensor out) {
  gate(gate_up, out, [](const at::Tensor& rows) { return at::gelu(rows, "tanh"); });
}

void TorchOps::soft_cap(Tensor rows, float cap) {
  const at::Tensor all = place_.view(rows);
  by_rows(all.size(0), [&](int64_t first, int64_t count) { all.narrow(0, first, count).div_(cap).tanh_().mul_(cap); });
}

void TorchOps::add_silu(Tensor in, Tensor residual) {
  const at::Tensor all = place_.view(in), result = place_.view(residual);
  by_rows(all.size(0),
          [&](int64_t first, int64_t count) { result.narrow(0, first, count).add_(at::silu(all.narrow(0, first, count))); });
}

void TorchOps::put_columns(Tensor in, Tensor out, int32_t first_column) {
  CHECK(in.rows == out.rows && first_column + in.cols <= out.cols, "[{}, {}] into [{}, {}] from column {} on", in.rows, in.cols,
        out.rows, out.cols, first_column);
  place_.view(out).narrow(1, first_column, in.cols).copy_(place_.view(in));
}

void TorchOps::store_features(Tensor in, FeaturePlane& plane) {
  static_cast<TorchPlane&>(plane).data.index_copy_(0, step_.slot, place_.view(in).to(at::kFloat));
}

void TorchOps::load_features(const FeaturePlane& plane, Tensor out) {
  at::Tensor rows = static_cast<const TorchPlane&>(plane).data.index_select(0, step_.parent_slot.clamp_min(0));
  place_.view(out).copy_(rows.masked_fill_(step_.parent_slot.lt(0).unsqueeze(1), 0));
}

void TorchOps::linear_extra(Tensor in, const Weight& weight, Tensor out) {
  const at::Tensor tokens = step_.extra_token.clamp_min(0);  // [rows, kExtraTokens]
  const at::Tensor rows = rows_of(weight, tokens.flatten()).view({in.rows, kExtraTokens, in.cols});
  const at::Tensor sums = at::bmm(rows, place_.view(in).to(rows.scalar_type()).unsqueeze(2)).squeeze(2).to(at::kFloat);
  place_.view(out).copy_(sums.add_(step_.extra_bonus).masked_fill_(step_.extra_token.lt(0), kNever));
}

// No extra token lies in the map. Those that are none stand for token 0 with -infinity, and the
// higher one of two logits stays.
void TorchOps::spread_columns(Tensor in, const ColumnMap& map, const Tensor* extra, Tensor out) {
  at::Tensor wide = place_.view(out);
  wide.fill_(kNever);
  wide.index_copy_(1, static_cast<const TorchColumnMap&>(map).columns, place_.view(in).to(wide.scalar_type()));
  if (extra != nullptr) wide.scatter_reduce_(1, step_.extra_token.clamp_min(0), place_.view(*extra), "amax");
}

void TorchOps::gather(Tensor in, Tensor out) { place_.view(out).copy_(place_.view(in).index_select(0, step_.wanted)); }

TorchOps::Scratch& TorchOps::scratch() { return scratch_[static_cast<size_t>(at::get_thread_num())]; }

void TorchOps::choose_token(int32_t row, std::span<const float> logits, Tensor ids) {
  Scratch& own = scratch();
  const std::span<const float> from = processed(*step_.host, row, logits, own.processed);
  const RowSampling& how = step_.host->sampling[static_cast<size_t>(row)];
  TokenId& id = static_cast<int32_t*>(ids.data)[row];
  if (near_ties_.empty()) {
    id = slipstream::sample_token(from, how, own.choose);
    return;
  }
  std::array<Ranked, 2> best{};
  slipstream::rank(from, how, own.choose, best);
  id = best.front().token;
  near_ties_[static_cast<size_t>(row)] = near_tie(best, near_tie_nats()) ? 1 : 0;
}

float TorchOps::near_tie_nats() const {
  if (place_.type == at::kFloat) return kNearTieNats;
  return place_.type == at::kHalf ? kNearTieNatsF16 : kNearTieNatsBf16;
}

void TorchOps::choose_ranked(int32_t row, std::span<const float> logits, Tensor out) {
  Scratch& own = scratch();
  const std::span<const float> from = processed(*step_.host, row, logits, own.processed);
  const auto columns = static_cast<size_t>(out.cols / kRankedWords);
  const std::span ranked(static_cast<Ranked*>(out.data) + static_cast<size_t>(row) * columns, columns);
  std::ranges::fill(ranked, Ranked{});
  slipstream::rank(from, step_.host->sampling[static_cast<size_t>(row)], own.choose, ranked);
}

template <class Choose>
void TorchOps::choose(const Tensor& logits, const Choose& choose_row) {
  const at::Tensor host = place_.view(logits).to(at::kCPU);
  const auto* rows = host.const_data_ptr<float>();
  const auto cols = static_cast<size_t>(logits.cols);
  at::parallel_for(0, logits.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      choose_row(static_cast<int32_t>(row), std::span(rows + static_cast<size_t>(row) * cols, cols));
    }
  });
}

void TorchOps::sample_tokens(Tensor logits, Tensor ids) {
  if (!place_.row_invariant) near_ties_.assign(static_cast<size_t>(logits.rows), 0);
  choose(logits, [&](int32_t row, std::span<const float> from) { choose_token(row, from, ids); });
}

void TorchOps::rank(Tensor logits, Tensor out) {
  choose(logits, [&](int32_t row, std::span<const float> from) { choose_ranked(row, from, out); });
}

}  // namespace slipstream
