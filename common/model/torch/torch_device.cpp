#include "common/model/torch/torch_device.h"

#include <atomic>
#include <cstdlib>
#include <exception>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/StreamGuard.h>
#include <fmt/ranges.h>
#include <torch/headeronly/version.h>

#include "common/base/check_beside_torch.h"
#include "common/checkpoint/dequantise.h"
#include "common/model/cpu/thread_pool.h"
#include "common/model/host_weights.h"
#include "common/model/torch/cuda_ops.h"
#include "common/model/torch/gpu.h"
#include "common/model/torch/small_weight.h"
#include "common/model/torch/torch_ops.h"
#include "kernels/cpu/panels.h"

namespace slipstream {
namespace {

constexpr int kKernelVersion = 2;  // of our own: increase it when the bits of a row change

const char* name(Type type) { return type == Type::f32 ? "f32" : type == Type::bf16 ? "bf16" : "f16"; }

// passing: others may hold it. (A CPU's is promised beyond what is free, so that it refuses only
// what it cannot hold at all.)
Error no_memory(const char* doing, const c10::Error& error, bool passing) {
  return {fmt::format("{} needs more memory than the device has: lower --cache-tokens, or take --weights of fewer bits or a "
                      "smaller model ({})",
                      doing, error.what_without_backtrace()),
          passing};
}

// What torch throws, as an error. Its message has a stack behind the first line. Its allocator of
// the CPU says in words alone that there is no memory. What a GPU does not do now it may do later.
template <class Run>
auto caught(const TorchPlace& place, const char* doing, const Run& run) -> decltype(run()) {
  try {
    const c10::OptionalStreamGuard guard(place.stream);
    const c10::InferenceMode inference;
    return run();
  } catch (const c10::OutOfMemoryError& error) {
    return std::unexpected(no_memory(doing, error, /*passing=*/true));
  } catch (const c10::Error& error) {
    const std::string_view said = error.what_without_backtrace();
    if (said.find("can't allocate memory") != said.npos) return std::unexpected(no_memory(doing, error, /*passing=*/false));
    return std::unexpected(Error{fmt::format("{} failed: {}", doing, said), place.device.is_cuda()});
  } catch (const std::exception& error) {
    return std::unexpected(Error{fmt::format("{} failed: {}", doing, error.what()), place.device.is_cuda()});
  }
}

// The stack's rows one below the other, [rows, cols] f32 on the host.
Result<at::Tensor> read_stack(std::span<const HostMatrix> stacked) {
  int64_t rows = 0;
  for (const HostMatrix& matrix : stacked) rows += matrix.rows;
  const auto cols = static_cast<int64_t>(stacked.front().cols);
  const at::Tensor all = at::empty({rows, cols}, at::kFloat);
  auto* at = all.mutable_data_ptr<float>();
  for (const HostMatrix& matrix : stacked) {
    at::parallel_for(0, matrix.rows, 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        read_row(matrix, static_cast<int32_t>(row), {at + row * cols, static_cast<size_t>(cols)});
      }
    });
    if (!all_finite({at, static_cast<size_t>(matrix.rows * cols)})) return not_finite(matrix.name);
    at += matrix.rows * cols;
  }
  return all;
}

class TorchDevice final : public Device, public RowWeigher {
 public:
  // kernels: of a GPU; null: none, and torch computes all.
  TorchDevice(const TorchOptions& options, TorchPlace place, std::string hardware, std::unique_ptr<CudaKernels> kernels)
      : options_(options), place_(std::move(place)), hardware_(std::move(hardware)) {
    CHECK(!options.small || options.type == Type::bf16, "matrices in few bits beside activations that are not bf16");
    place_.row_invariant = place_.deterministic && (kernels != nullptr || place_.device.is_cpu());
    if (kernels == nullptr) {
      ops_ = std::make_unique<TorchOps>(place_);
    } else {
      auto ops = std::make_unique<CudaOps>(place_, std::move(kernels));
      own_kernels_ = ops.get();
      ops_ = std::move(ops);
    }
  }

  Result<Weight*> pack(std::span<const HostMatrix> stacked, Format format) override {
    return caught(place_, "to load a matrix", [&]() -> Result<Weight*> {
      for (const HostMatrix& matrix : stacked) {
        const int32_t cols = stacked.front().cols;
        CHECK(matrix.cols == cols, "{} has {} columns, its stack has {}", matrix.name, matrix.cols, cols);
      }
      auto weight = std::make_unique<TorchWeight>();
      if (options_.small && own_kernels_ != nullptr && format != Format::f32) {
        TRY(auto parts, pack_small(stacked, *options_.small, place_));
        if (!parts.empty()) {
          weight->parts = std::move(parts);
          weight->out = weight->parts.back().first + weight->parts.back().matrix.out;
          weight->in = weight->parts.back().matrix.in;
          return keep(std::move(weight), weights_);
        }
      }
      TRY(const at::Tensor exact, read_stack(stacked));
      weight->values = exact.to(place_.of(format == Format::f32 ? at::kFloat : place_.type));
      if (!weight->values.isfinite().all().item<bool>()) return not_finite(stacked.front().name);
      weight->out = static_cast<int32_t>(exact.size(0));
      weight->in = static_cast<int32_t>(exact.size(1));
      return keep(std::move(weight), weights_);
    });
  }

  Result<RopeTable*> rope(std::span<const float> frequencies, float factor, int32_t positions) override {
    return caught(place_, "to make a table of rotations", [&]() -> Result<RopeTable*> {
      const auto half = static_cast<int64_t>(frequencies.size());
      const at::Tensor cosine = at::empty({positions, half}, at::kFloat), sine = at::empty_like(cosine);
      auto *cosines = cosine.mutable_data_ptr<float>(), *sines = sine.mutable_data_ptr<float>();
      for (int32_t position = 0; position < positions; ++position) {
        write_rotation(frequencies, factor, position, cosines + position * half, sines + position * half);
      }
      auto table = std::make_unique<TorchRope>();
      table->cosine = cosine.to(place_.device);
      table->sine = sine.to(place_.device);
      return keep(std::move(table), ropes_);
    });
  }

  // Heads that our kernels do not compute are torch's, slowly, and rows of a GPU may vary then.
  Result<void> prepare(AttentionShape shape) override {
    if (own_kernels_ == nullptr || (shape.head_size <= cuda::kHeadSizeMax && shape.head_size % 4 == 0)) return {};
    if (options_.small) {
      return fail(
          "heads of {} columns: with matrices in few bits those of cuda:N have a multiple of 4, at most {}; --weights bf16 "
          "takes others, slowly",
          shape.head_size, cuda::kHeadSizeMax);
    }
    place_.row_invariant = place_.deterministic && place_.device.is_cpu();
    ops_ = std::make_unique<TorchOps>(place_);
    own_kernels_ = nullptr;
    return {};
  }

  size_t cache_bytes(int layers, AttentionShape shape, int32_t blocks) const override {
    return torch_cache_bytes(options_.type, layers, shape, blocks);
  }
  size_t plane_bytes(int32_t cols, int32_t blocks) const override {
    return static_cast<size_t>(int64_t{blocks} * kBlockTokens * cols) * sizeof(float);
  }

  Result<KvCache*> cache(int layers, AttentionShape shape, int32_t blocks, int32_t) override {
    TRY_VOID(prepare(shape));
    return caught(place_, "a cache of keys and values", [&]() -> Result<KvCache*> {
      auto cache = std::make_unique<TorchCache>();
      cache->blocks = blocks;
      cache->block_tokens = kBlockTokens;
      cache->shape = shape;
      cache->data = at::zeros({layers, blocks + padding_blocks(), shape.kv_heads, 2, kBlockTokens, shape.head_size},
                              place_.of(place_.type));
      cache->bytes = cache->data.nbytes();
      return keep(std::move(cache), caches_);
    });
  }

  Result<FeaturePlane*> feature_plane(int32_t cols, int32_t blocks) override {
    return caught(place_, "a plane of features", [&]() -> Result<FeaturePlane*> {
      auto plane = std::make_unique<TorchPlane>();
      plane->cols = cols;
      plane->data = at::zeros({int64_t{blocks + padding_blocks()} * kBlockTokens, cols}, place_.of(at::kFloat));
      plane->bytes = plane->data.nbytes();
      return keep(std::move(plane), planes_);
    });
  }

  Result<void> read(const FeaturePlane& plane, std::span<const int32_t> slots, std::span<float> rows) override {
    return caught(place_, "features", [&]() -> Result<void> {
      const auto& data = static_cast<const TorchPlane&>(plane).data;
      const at::Tensor read = data.index_select(0, index_tensor(slots, place_)).to(at::kCPU).contiguous();
      std::copy_n(read.const_data_ptr<float>(), rows.size(), rows.data());
      return {};
    });
  }

  Result<void> write(FeaturePlane& plane, std::span<const int32_t> slots, std::span<const float> rows) override {
    return caught(place_, "features", [&]() -> Result<void> {
      const at::Tensor given = at::empty({static_cast<int64_t>(slots.size()), plane.cols}, at::kFloat);
      std::ranges::copy(rows, given.mutable_data_ptr<float>());
      static_cast<TorchPlane&>(plane).data.index_copy_(0, index_tensor(slots, place_), given.to(place_.device));
      return {};
    });
  }

  Result<ColumnMap*> column_map(std::span<const int32_t> columns, int32_t wide) override {
    return caught(place_, "a map of columns", [&]() -> Result<ColumnMap*> {
      auto map = std::make_unique<TorchColumnMap>();
      map->narrow = static_cast<int32_t>(columns.size());
      map->wide = wide;
      map->columns = index_tensor(columns, place_);
      return keep(std::move(map), maps_);
    });
  }

  Result<Tensor> scratch(int32_t rows_max, int32_t cols, Type type) override {
    return caught(place_, "room for a step", [&]() -> Result<Tensor> {
      tensors_.push_back(type == Type::i32 ? choices(rows_max, cols) : room(rows_max, cols, scalar(type)));
      return Tensor{.data = tensors_.back().mutable_data_ptr(), .rows = rows_max, .cols = cols, .type = type};
    });
  }
  Result<Tensor> output(int32_t rows_max, int32_t cols, Type type) override { return scratch(rows_max, cols, type); }
  int32_t step_rows() const override { return own_kernels_ == nullptr ? kCpuStepRows : kStepRowsMax; }
  int32_t sequences() const override { return own_kernels_ == nullptr ? kCpuSequences : kSequencesPerVerifierMax; }
  Type activations() const override { return options_.type; }

  // A step that failed may have written some rows of its caches. Whoever gets the error
  // computes its sequences anew, as after a crash.
  Result<void> run(const Network& network, const Step& step) override {
    CHECK(!running_.exchange(true), "a step begins on a device that runs another");
    const Result<void> result = caught(place_, "a step", [&]() -> Result<void> {
      host_copies_.clear();
      at::set_num_threads(options_.threads);  // torch's pool is one a process
      ops_->run(network, step);
      return {};
    });
    running_ = false;
    return result;
  }

  const void* host(const Tensor& output) override {
    if (place_.device.is_cpu() || output.type == Type::i32) return output.data;
    const Result<const void*> copy =
        caught(place_, "to read a result", [&]() -> Result<const void*> { return copy_to_host(output); });
    CHECK(copy.has_value(), "{}", copy.error().message);
    return *copy;
  }

  RowWeigher* weigher() override { return own_kernels_ == nullptr ? nullptr : this; }
  Result<RowWeights> weigh(const Step& step, std::span<const RowTokens> rows) override {
    return caught(place_, "to weigh tokens", [&]() -> Result<RowWeights> { return own_kernels_->weigh(step, rows); });
  }
  Result<TokenId> token_at(size_t i, uint64_t mark, std::span<const TokenId> without) override {
    return caught(place_, "to find a token", [&]() -> Result<TokenId> { return own_kernels_->token_at(i, mark, without); });
  }
  bool row_invariant() const override { return place_.row_invariant; }
  std::span<const uint8_t> near_ties() const override { return ops_->near_ties(); }
  std::string numerics_id(std::span<const Weight* const> weights) const override {
    std::set<std::string_view> formats{name(options_.type)};
    for (const Weight* each : weights) {
      for (const SmallPart& part : static_cast<const TorchWeight&>(*each).parts) formats.insert(name(part.matrix.format));
    }
    const std::string rows = place_.row_invariant ? "deterministic" : "fast";
    const std::string kernels = own_kernels_ == nullptr ? "" : fmt::format("kernels {}/", kKernelVersion);
    return fmt::format("torch {}/{}/{}{}/{}", TORCH_VERSION, hardware_, kernels, fmt::join(formats, "+"), rows);
  }

 private:
  int32_t padding_blocks() const { return own_kernels_ == nullptr ? 0 : CudaOps::kPaddingBlocks; }
  at::Tensor room(int64_t rows, int64_t cols, at::ScalarType type) const {
    return at::zeros({own_kernels_ == nullptr ? rows : CudaOps::buffer_rows(rows), cols}, place_.of(type));
  }
  // Tokens and candidates come to the host with each step.
  at::Tensor choices(int64_t rows, int64_t cols) {
    const int64_t all = own_kernels_ == nullptr ? rows : CudaOps::buffer_rows(rows);
    if (own_kernels_ != nullptr) own_kernels_->reserve_choices(all, cols);
    return at::zeros({all, cols}, at::TensorOptions(at::kInt).pinned_memory(place_.device.is_cuda()));
  }
  const void* copy_to_host(const Tensor& output) {
    for (const auto& [data, copy] : host_copies_) {
      if (data == output.data && copy.size(0) >= output.rows) return copy.const_data_ptr();
    }
    host_copies_.emplace_back(output.data, place_.view(output).to(at::kCPU));
    return host_copies_.back().second.const_data_ptr();
  }
  template <class Thing>
  static Thing* keep(std::unique_ptr<Thing> thing, std::vector<std::unique_ptr<Thing>>& things) {
    things.push_back(std::move(thing));
    return things.back().get();
  }

  TorchOptions options_;
  TorchPlace place_;
  std::string hardware_;
  std::atomic<bool> running_ = false;  // a step
  std::unique_ptr<TorchOps> ops_;
  CudaOps* own_kernels_ = nullptr;  // ops_, if it has kernels of our own
  std::vector<std::unique_ptr<TorchWeight>> weights_;
  std::vector<std::unique_ptr<TorchRope>> ropes_;
  std::vector<std::unique_ptr<TorchCache>> caches_;
  std::vector<std::unique_ptr<TorchPlane>> planes_;
  std::vector<std::unique_ptr<TorchColumnMap>> maps_;
  std::vector<at::Tensor> tensors_;
  std::vector<std::pair<const void*, at::Tensor>> host_copies_;  // of outputs, since the last step
};

// Unless it is told otherwise before its first product, MKL chooses how to add up by where numbers
// lie and by the number of threads. (Its "conditional numerical reproducibility"; on other CPUs
// than Intel's it would fall back to slow code, and was never seen to need it.)
void pin_products() {
  if (__builtin_cpu_is("intel") == 0) return;
  setenv("MKL_CBWR", __builtin_cpu_supports("avx512f") != 0 ? "AVX512,STRICT" : "AVX2,STRICT", /*overwrite=*/0);
}

}  // namespace

Result<std::unique_ptr<Device>> make_torch_device(const TorchOptions& options) {
  pin_products();
  if (options.threads < 1 || options.threads > kComputeThreadsMax) {
    return fail("{} compute threads were asked for; 1 to {} are possible", options.threads, kComputeThreadsMax);
  }
  at::set_num_threads(options.threads);
  TorchPlace place{.device = at::kCPU, .type = scalar(options.type), .deterministic = options.deterministic, .stream = {}};
  if (options.name.kind != DeviceKind::cuda) {
    return std::make_unique<TorchDevice>(options, place, cpu_hardware(options.threads), nullptr);
  }
  TRY(std::string hardware, find_gpu(options.name.ordinal));
  place.device = at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(options.name.ordinal));
  TRY_VOID(caught(place, "to begin on the GPU", [&]() -> Result<void> {
    place.stream = gpu_stream(options.name.ordinal);
    return {};
  }));
  // Sums of products are kept in f32 until the end.
  at::globalContext().setAllowBF16ReductionCuBLAS(false);
  at::globalContext().setAllowFP16ReductionCuBLAS(false);
  TRY(std::unique_ptr<CudaKernels> kernels, open_cuda_kernels());
  return std::make_unique<TorchDevice>(options, std::move(place), std::move(hardware), std::move(kernels));
}

std::unique_ptr<Device> make_torch_device(const TorchOptions& options, std::unique_ptr<CudaKernels> kernels) {
  at::set_num_threads(options.threads);
  const TorchPlace place{
      .device = at::kCPU, .type = scalar(options.type), .deterministic = options.deterministic, .stream = {}};
  return std::make_unique<TorchDevice>(options, place, "kernels on a CPU", std::move(kernels));
}

}  // namespace slipstream
