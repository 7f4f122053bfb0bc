#include "common/model/torch/torch_device.h"

#include <atomic>
#include <exception>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <c10/core/InferenceMode.h>
#include <torch/headeronly/version.h>

#include "common/base/check_beside_torch.h"
#include "common/checkpoint/dequantise.h"
#include "common/model/cpu/thread_pool.h"
#include "common/model/host_weights.h"
#include "common/model/torch/gpu.h"
#include "common/model/torch/torch_ops.h"

namespace slipstream {
namespace {

const char* name(Type type) { return type == Type::f32 ? "f32" : type == Type::bf16 ? "bf16" : "f16"; }

// What torch throws, as an error. Its message has a stack behind the first line.
template <class Run>
auto caught(const char* doing, const Run& run) -> decltype(run()) {
  try {
    const c10::InferenceMode inference;
    return run();
  } catch (const c10::OutOfMemoryError& error) {
    return fail("{} needs more memory than the device has: lower --cache-tokens, or take a smaller model ({})", doing,
                error.what_without_backtrace());
  } catch (const c10::Error& error) {
    return fail("{} failed: {}", doing, error.what_without_backtrace());
  } catch (const std::exception& error) {
    return fail("{} failed: {}", doing, error.what());
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
    CHECK(matrix.cols == cols, "{} has {} columns, its stack has {}", matrix.name, matrix.cols, cols);
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

class TorchDevice final : public Device {
 public:
  TorchDevice(const TorchOptions& options, at::Device device, std::string hardware)
      : options_(options),
        place_{.device = device, .type = scalar(options.type), .deterministic = options.deterministic},
        hardware_(std::move(hardware)),
        ops_(place_) {}

  Result<Weight*> pack(std::span<const HostMatrix> stacked, Format format) override {
    return caught("to load a matrix", [&]() -> Result<Weight*> {
      TRY(const at::Tensor exact, read_stack(stacked));
      auto weight = std::make_unique<TorchWeight>();
      weight->values = exact.to(place_.of(format == Format::f32 ? at::kFloat : place_.type));
      if (!weight->values.isfinite().all().item<bool>()) return not_finite(stacked.front().name);
      weight->out = static_cast<int32_t>(exact.size(0));
      weight->in = static_cast<int32_t>(exact.size(1));
      return keep(std::move(weight), weights_);
    });
  }

  Result<RopeTable*> rope(std::span<const float> frequencies, float factor, int32_t positions) override {
    return caught("to make a table of rotations", [&]() -> Result<RopeTable*> {
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

  size_t cache_bytes(int layers, AttentionShape shape, int32_t blocks) const override {
    const int64_t numbers = int64_t{layers} * blocks * shape.kv_heads * 2 * kBlockTokens * shape.head_size;
    return static_cast<size_t>(numbers) * at::elementSize(place_.type);
  }
  size_t plane_bytes(int32_t cols, int32_t blocks) const override {
    return static_cast<size_t>(int64_t{blocks} * kBlockTokens * cols) * sizeof(float);
  }

  Result<KvCache*> cache(int layers, AttentionShape shape, int32_t blocks, int32_t) override {
    return caught("a cache of keys and values", [&]() -> Result<KvCache*> {
      auto cache = std::make_unique<TorchCache>();
      cache->blocks = blocks;
      cache->block_tokens = kBlockTokens;
      cache->data = at::zeros({layers, blocks, shape.kv_heads, 2, kBlockTokens, shape.head_size}, place_.of(place_.type));
      cache->bytes = cache->data.nbytes();
      return keep(std::move(cache), caches_);
    });
  }

  Result<FeaturePlane*> feature_plane(int32_t cols, int32_t blocks) override {
    return caught("a plane of features", [&]() -> Result<FeaturePlane*> {
      auto plane = std::make_unique<TorchPlane>();
      plane->cols = cols;
      plane->data = at::zeros({int64_t{blocks} * kBlockTokens, cols}, place_.of(at::kFloat));
      plane->bytes = plane->data.nbytes();
      return keep(std::move(plane), planes_);
    });
  }

  Result<ColumnMap*> column_map(std::span<const int32_t> columns, int32_t wide) override {
    return caught("a map of columns", [&]() -> Result<ColumnMap*> {
      auto map = std::make_unique<TorchColumnMap>();
      map->narrow = static_cast<int32_t>(columns.size());
      map->wide = wide;
      map->columns = index_tensor(columns, place_);
      return keep(std::move(map), maps_);
    });
  }

  Result<Tensor> scratch(int32_t rows_max, int32_t cols, Type type) override {
    return caught("room for a step", [&]() -> Result<Tensor> {
      // Tokens and candidates are chosen on the host (torch_ops.h).
      const at::Device where = type == Type::i32 ? at::Device(at::kCPU) : place_.device;
      tensors_.push_back(at::zeros({rows_max, cols}, at::TensorOptions(scalar(type)).device(where)));
      return Tensor{.data = tensors_.back().mutable_data_ptr(), .rows = rows_max, .cols = cols, .type = type};
    });
  }
  Result<Tensor> output(int32_t rows_max, int32_t cols, Type type) override { return scratch(rows_max, cols, type); }
  Type activations() const override { return options_.type; }

  // A step that failed may have written some rows of its caches. Whoever gets the error
  // computes its sequences anew, as after a crash.
  Result<void> run(const Network& network, const Step& step) override {
    CHECK(!running_.exchange(true), "a step begins on a device that runs another");
    const Result<void> result = caught("a step", [&]() -> Result<void> {
      host_copies_.clear();
      at::set_num_threads(options_.threads);  // torch's pool is one a process
      ops_.begin(step);
      for (const KvCache* cache : network.caches()) TorchOps::move(static_cast<const TorchCache&>(*cache), step.moves);
      for (const FeaturePlane* plane : network.planes()) TorchOps::move(static_cast<const TorchPlane&>(*plane), step.moves);
      network.forward(ops_,
                      {.rows = static_cast<int32_t>(step.token.size()), .wanted = static_cast<int32_t>(step.wanted.size())});
      wait_for(place_.device);
      return {};
    });
    running_ = false;
    return result;
  }

  const void* host(const Tensor& output) override {
    if (place_.device.is_cpu() || output.type == Type::i32) return output.data;
    const Result<const void*> copy = caught("to read a result", [&]() -> Result<const void*> { return copy_to_host(output); });
    CHECK(copy.has_value(), "{}", copy.error().message);
    return *copy;
  }

  // Shown on a CPU only: nobody has run the suite of row invariance on a GPU.
  bool row_invariant() const override { return place_.deterministic && place_.device.is_cpu(); }
  std::string numerics_id(std::span<const Weight* const>) const override {
    const std::string rows = place_.deterministic ? "deterministic" : "fast";
    return fmt::format("torch {}/{}/{}/{}", TORCH_VERSION, hardware_, name(options_.type), rows);
  }

 private:
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
  TorchOps ops_;
  std::vector<std::unique_ptr<TorchWeight>> weights_;
  std::vector<std::unique_ptr<TorchRope>> ropes_;
  std::vector<std::unique_ptr<TorchCache>> caches_;
  std::vector<std::unique_ptr<TorchPlane>> planes_;
  std::vector<std::unique_ptr<TorchColumnMap>> maps_;
  std::vector<at::Tensor> tensors_;
  std::vector<std::pair<const void*, at::Tensor>> host_copies_;  // of outputs, since the last step
};

}  // namespace

Result<std::unique_ptr<Device>> make_torch_device(const TorchOptions& options) {
  if (options.threads < 1 || options.threads > kComputeThreadsMax) {
    return fail("{} compute threads were asked for; 1 to {} are possible", options.threads, kComputeThreadsMax);
  }
  at::set_num_threads(options.threads);
  if (options.name.kind != DeviceKind::cuda) {
    return std::make_unique<TorchDevice>(options, at::Device(at::kCPU), cpu_hardware(options.threads));
  }
  TRY(std::string hardware, find_gpu(options.name.ordinal));
  const at::Device device(at::kCUDA, static_cast<c10::DeviceIndex>(options.name.ordinal));
  return std::make_unique<TorchDevice>(options, device, std::move(hardware));
}

}  // namespace slipstream
