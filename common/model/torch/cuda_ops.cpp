#include "common/model/torch/cuda_ops.h"

#include <algorithm>
#include <bit>

#include <ATen/ATen.h>

#include "common/base/check_beside_torch.h"
#include "common/model/torch/gpu.h"
#include "common/sampling/near_tie.h"

namespace slipstream {
namespace {

cuda::Element element(at::ScalarType type) {
  return type == at::kFloat ? cuda::Element::f32 : type == at::kHalf ? cuda::Element::f16 : cuda::Element::bf16;
}
cuda::Element element(Type type) { return element(scalar(type)); }

cuda::PagedCache paged(const KvCache& cache) {
  const auto& own = static_cast<const TorchCache&>(cache);
  const auto size = [&](int64_t dimension) { return static_cast<int32_t>(own.data.size(dimension)); };
  return {.data = own.data.mutable_data_ptr(),
          .layers = size(0),
          .blocks = size(1),
          .kv_heads = size(2),
          .head_size = size(5),
          .element = element(own.data.scalar_type())};
}

constexpr int64_t kPairWords = 2 * kRankedWords;

int32_t power_of_two(int32_t count) { return static_cast<int32_t>(std::bit_ceil(static_cast<uint32_t>(count))); }

}  // namespace

CudaOps::CudaOps(const TorchPlace& place, std::unique_ptr<CudaKernels> kernels)
    : TorchOps(place),
      kernels_(std::move(kernels)),
      numbers_(place, *kernels_),
      edits_(place, *kernels_),
      weights_(place, *kernels_) {}

void CudaOps::reserve_choices(int64_t rows, int64_t words_each) {
  const auto grow = [&](at::Tensor& tensor, int64_t numbers, at::ScalarType type) {
    if (tensor.defined() && tensor.numel() >= numbers) return;
    tensor = at::zeros({numbers}, place_.of(type));
    graphs_.clear();
  };
  grow(choices_, rows * std::max(words_each, kPairWords), at::kInt);
  if (!place_.row_invariant && (!pairs_.defined() || pairs_.size(0) < rows)) {
    pairs_ = at::zeros({rows, kPairWords}, at::TensorOptions(at::kInt).pinned_memory(place_.device.is_cuda()));
    graphs_.clear();
  }
  grow(sampling_, rows * static_cast<int64_t>(sizeof(cuda::SampleScratch)), at::kByte);
}

CudaOps::Identity CudaOps::identity(const Network& network) {
  const auto caches = network.caches();
  return {&network, caches.empty() ? nullptr : caches.front()};
}

// A graph's rows and wanted rows are filled up to one number, where any row is wanted.
CudaStep::Plan CudaOps::plan(const Network& network, const Step& step) const {
  CudaStep::Plan plan{.shape = shape_of(step)};
  plan.graph = plan.shape.rows <= kGraphRowsMax && warm_.contains(identity(network));
  if (plan.graph) {
    plan.shape.rows = power_of_two(plan.shape.rows);
    plan.shape.wanted = plan.shape.wanted == 0 ? 0 : plan.shape.rows;
  }
  for (const KvCache* cache : network.caches()) {
    const AttentionShape& shape = static_cast<const TorchCache&>(*cache).shape;
    plan.group = std::max(plan.group, shape.heads / shape.kv_heads);
    plan.part_floats = std::max(plan.part_floats, shape.heads * (shape.head_size + 2));
    plan.padding_slot = cache->blocks * kBlockTokens;
  }
  return plan;
}

void CudaOps::move_rows(const Network& network, const Step& step) {
  if (step.moves.empty()) return;
  for (const KvCache* cache : network.caches()) {
    kernels_->commit({.cache = paged(*cache), .moves = numbers_.moves(), .count = static_cast<int32_t>(step.moves.size())});
  }
  for (const FeaturePlane* plane : network.planes()) move(static_cast<const TorchPlane&>(*plane), step.moves);
}

void CudaOps::run_graph(const Network& network, Shape shape) {
  const Key key{.network = identity(network), .rows = shape.rows, .wanted = shape.wanted, .items = numbers_.items()};
  auto at = graphs_.find(key);
  if (at == graphs_.end()) {
    if (graphs_.size() >= kGraphsMax) graphs_.clear();
    auto graph = kernels_->capture([this, &network, shape] { network.forward(*this, shape); });
    at = graphs_.emplace(key, Captured{std::move(graph), chosen_}).first;
  }
  chosen_ = at->second.chosen;
  at->second.graph->replay();
}

void CudaOps::run(const Network& network, const Step& step) {
  if (thread_ != std::this_thread::get_id()) warm_.clear();
  thread_ = std::this_thread::get_id();
  const CudaStep::Plan laid = plan(network, step);
  if (!numbers_.begin(step, laid)) graphs_.clear();
  begin(numbers_.torch());
  move_rows(network, step);
  chosen_ = {};
  if (laid.graph) {
    run_graph(network, laid.shape);
  } else {
    network.forward(*this, laid.shape);
    warm_.insert(identity(network));
  }
  const bool edits = !step.processed.empty() && chosen_.logits.data != nullptr;
  if (edits) edits_.choose(step, chosen_.logits, chosen_.out, chosen_.ranked);
  wait_for(place_.device);
  if (edits) edits_.finish(step, chosen_.out);
  if (chosen_.ids.data != nullptr) read_pairs(step);
}

void CudaOps::add_rms_norm(Tensor residual, const Tensor* delta, const Weight& gain, float eps, Tensor out) {
  const bool plain = (residual.type == Type::f32 || residual.type == out.type) && (delta == nullptr || delta->type == out.type);
  CHECK(plain, "a norm over types that its kernel does not have");
  kernels_->add_rms_norm({.residual = residual.data,
                          .delta = delta == nullptr ? nullptr : delta->data,
                          .gain = values(gain).const_data_ptr<float>(),
                          .out = out.data,
                          .rows = residual.rows,
                          .cols = residual.cols,
                          .eps = eps,
                          .element = element(out.type),
                          .stream = element(residual.type)});
}

void CudaOps::linear(Tensor in, const Weight& weight, const Weight* bias, Tensor out) {
  CHECK(in.cols == weight.in && out.cols == weight.out && in.rows == out.rows, "linear [{}, {}] -> [{}, {}] by [{}, {}]",
        in.rows, in.cols, out.rows, out.cols, weight.out, weight.in);
  if (const auto& own = static_cast<const TorchWeight&>(weight); !own.parts.empty()) return linear_small(in, own, bias, out);
  const at::Tensor& matrix = values(weight);
  const int32_t rows = in.rows;
  in.rows = out.rows = place_.deterministic ? static_cast<int32_t>(buffer_rows(rows)) : rows;
  const at::Tensor from = place_.view(in).to(matrix.scalar_type()), to = place_.view(out);
  const int64_t each = place_.deterministic ? kProductRows : rows;
  for (int64_t first = 0; first < rows; first += each) {
    const at::Tensor some = from.narrow(0, first, each);
    at::Tensor result = to.narrow(0, first, each);
    if (result.scalar_type() == matrix.scalar_type()) {
      at::mm_out(result, some, matrix.t());
    } else if (place_.device.is_cuda()) {
      at::mm_out(result, some, matrix.t(), result.scalar_type());
    } else {
      result.copy_(at::mm(some, matrix.t()));  // the emulator's
    }
  }
  if (bias != nullptr) to.narrow(0, 0, rows).add_(values(*bias).view({-1}));
}

void CudaOps::linear_small(Tensor in, const TorchWeight& weight, const Weight* bias, Tensor out) {
  const at::Tensor from = place_.view(in).to(at::kBFloat16);
  const int64_t bytes = cuda::bytes_of(element(out.type));
  for (const SmallPart& part : weight.parts) {
    kernels_->quantized_linear({.in = from.const_data_ptr(),
                                .weight = part.matrix,
                                .bias = bias == nullptr ? nullptr : values(*bias).const_data_ptr<float>() + part.first,
                                .out = static_cast<std::byte*>(out.data) + part.first * bytes,
                                .out_stride = out.cols,
                                .rows = in.rows,
                                .out_element = element(out.type)});
  }
}

at::Tensor CudaOps::rows_of(const Weight& matrix, const at::Tensor& ids) const {
  const auto& own = static_cast<const TorchWeight&>(matrix);
  if (own.parts.empty()) return TorchOps::rows_of(matrix, ids);
  CHECK(own.parts.size() == 1, "rows of a stack of {} formats", own.parts.size());
  at::Tensor rows = at::empty({ids.numel(), matrix.in}, place_.of(at::kBFloat16));
  kernels_->unpack_rows({.weight = own.parts.front().matrix,
                         .row = ids.const_data_ptr<int64_t>(),
                         .out = rows.mutable_data_ptr(),
                         .count = static_cast<int32_t>(ids.numel())});
  return rows;
}

void CudaOps::norm_heads(Tensor rows, int32_t first_head, int32_t heads, const Weight& gain, float eps) {
  const int32_t size = gain.in, bytes = cuda::bytes_of(element(rows.type));
  kernels_->norm_heads({.first = static_cast<std::byte*>(rows.data) + int64_t{first_head} * size * bytes,
                        .stride = rows.cols,
                        .gain = values(gain).const_data_ptr<float>(),
                        .rows = rows.rows,
                        .heads = heads,
                        .head_size = size,
                        .eps = eps,
                        .element = element(rows.type)});
}

void CudaOps::rope_store(Tensor qkv, const RopeTable& rope, KvCache& cache, int layer) {
  const auto& table = static_cast<const TorchRope&>(rope);
  const cuda::PagedCache to = paged(cache);
  kernels_->rope_store({.qkv = qkv.data,
                        .cosine = table.cosine.const_data_ptr<float>(),
                        .sine = table.sine.const_data_ptr<float>(),
                        .position = numbers_.position(),
                        .slot = numbers_.slot(),
                        .cache = to,
                        .layer = layer,
                        .rows = qkv.rows,
                        .heads = qkv.cols / to.head_size - 2 * to.kv_heads});
}

void CudaOps::attend(Tensor qkv, const KvCache& cache, int layer, const AttentionRules& rules, Tensor out) {
  const cuda::PagedCache from = paged(cache);
  cuda::AttendArgs args{.qkv = qkv.data,
                        .qkv_stride = qkv.cols,
                        .out = out.data,
                        .cache = from,
                        .layer = layer,
                        .rows = qkv.rows,
                        .heads = out.cols / from.head_size,
                        .window = rules.window,
                        .scale = rules.scale,
                        .soft_cap = rules.soft_cap};
  numbers_.describe(args);
  kernels_->attend(args);
}

void CudaOps::silu_gate(Tensor gate_up, Tensor out) {
  kernels_->silu_gate(
      {.gate_up = gate_up.data, .out = out.data, .rows = out.rows, .cols = out.cols, .element = element(out.type)});
}

void CudaOps::gelu_gate(Tensor gate_up, Tensor out) {
  kernels_->gelu_gate(
      {.gate_up = gate_up.data, .out = out.data, .rows = out.rows, .cols = out.cols, .element = element(out.type)});
}

void CudaOps::choose(Tensor logits, Tensor out, bool ranked) {
  chosen_ = {.logits = logits, .out = out, .ranked = ranked};
  const int64_t words = int64_t{logits.rows} * out.cols;
  CHECK(choices_.defined() && choices_.numel() >= words, "no room for {} choices", words);
  void* choices = choices_.mutable_data_ptr();
  const cuda::SampleArgs args{.logits = static_cast<const float*>(logits.data),
                              .rules = numbers_.rules(),
                              .ids = ranked ? nullptr : static_cast<int32_t*>(choices),
                              .ranked = ranked ? static_cast<cuda::RankedToken*>(choices) : nullptr,
                              .scratch = static_cast<cuda::SampleScratch*>(sampling_.mutable_data_ptr()),
                              .rows = logits.rows,
                              .vocabulary = logits.cols,
                              .count = ranked ? out.cols / kRankedWords : 0};
  ranked ? kernels_->rank_tokens(args) : kernels_->sample_tokens(args);
  kernels_->copy(out.data, choices, static_cast<size_t>(words) * sizeof(int32_t));
}

// Where near-ties are counted, two candidates are ranked: the first one is the token.
void CudaOps::sample_tokens(Tensor logits, Tensor ids) {
  if (place_.row_invariant) return choose(logits, ids, false);
  choose(logits, {.data = pairs_.mutable_data_ptr(), .rows = ids.rows, .cols = kPairWords, .type = Type::i32}, true);
  chosen_.ids = ids;
}

void CudaOps::read_pairs(const Step& step) {
  const auto* pairs = reinterpret_cast<const Ranked*>(pairs_.const_data_ptr<int32_t>());
  near_ties_.resize(step.wanted.size());
  for (size_t row = 0; row < step.wanted.size(); ++row, pairs += 2) {
    static_cast<int32_t*>(chosen_.ids.data)[row] = pairs->token;
    near_ties_[row] = near_tie(std::span<const Ranked, 2>(pairs, 2), near_tie_nats()) ? 1 : 0;
  }
}

void CudaOps::rank(Tensor logits, Tensor out) { choose(logits, out, true); }

}  // namespace slipstream
