#include "common/model/cpu/cpu_device.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "common/base/check.h"
#include "common/checkpoint/dequantise.h"
#include "common/model/cpu/arena.h"
#include "common/model/cpu/cpu_ops.h"
#include "common/model/cpu/cpu_types.h"
#include "common/model/cpu/numerics_probe.h"
#include "common/model/host_weights.h"
#include "common/model/row_blocks.h"

namespace slipstream {
namespace {

constexpr int kKernelVersion = 5;             // part of the numerics id: increase it when a kernel's bits change
constexpr int64_t kPackRangeBytes = 1 << 18;  // packed by a thread at a time
constexpr int32_t kRopeRangePositions = 128;  // computed by a thread at a time

CacheLayout layout(CpuPath path, int32_t head_size) {
  return {.format = kernels(path).cache, .head_size = head_size, .value_stride = value_stride(head_size)};
}

// Packs the rows [begin, end) of a stack. Returns the first matrix with a row that is not finite,
// or null.
const HostMatrix* pack_rows(std::span<const HostMatrix> stacked, int32_t begin, int32_t end, WeightFormat format,
                            PanelLayout layout, std::byte* panels) {
  const int32_t cols = stacked.front().cols;
  RowBlocks blocks(format, cols);
  int32_t first = 0;  // row of the stack at which the matrix begins
  for (const HostMatrix& matrix : stacked) {
    const int32_t behind = std::min(end, first + matrix.rows);
    for (int32_t row = std::max(begin, first); row < behind; ++row) {
      const std::span<const std::byte> stored = blocks.of(matrix, row - first);
      if (stored.empty()) return &matrix;
      if (format == WeightFormat::bf16) {
        pack_row(stored.data(), cols, row, panels);
      } else {
        pack_blocks(format, layout, stored.data(), cols, row, panels);
      }
    }
    first += matrix.rows;
  }
  return nullptr;
}

class CpuDevice final : public Device {
 public:
  CpuDevice(CpuPath path, const CpuOptions& options)
      : path_(path), format_(options.weights), guess_format_(options.guesses), ops_(kernels(path), options.threads) {}

  Result<Weight*> pack(std::span<const HostMatrix> stacked, Format format) override {
    auto weight = std::make_unique<CpuWeight>();
    weight->in = stacked.front().cols;
    for (const HostMatrix& matrix : stacked) {
      CHECK(matrix.cols == weight->in, "{} has {} columns, its stack has {}", matrix.name, matrix.cols, weight->in);
      weight->out += matrix.rows;
    }
    TRY_VOID(format == Format::f32 ? fill_gain(stacked, *weight) : fill_panels(stacked, format, *weight));
    weights_.push_back(std::move(weight));
    return weights_.back().get();
  }

  Result<RopeTable*> rope(std::span<const float> frequencies, float factor, int32_t positions) override {
    auto table = std::make_unique<CpuRope>();
    const size_t half = frequencies.size();
    table->half = static_cast<int32_t>(half);
    table->cosine.resize(static_cast<size_t>(positions) * half);
    table->sine.resize(table->cosine.size());
    ops_.pool().run(positions, kRopeRangePositions, [&](int32_t begin, int32_t end, int) {
      for (int32_t position = begin; position < end; ++position) {
        const size_t at = static_cast<size_t>(position) * half;
        write_rotation(frequencies, factor, position, table->cosine.data() + at, table->sine.data() + at);
      }
    });
    ropes_.push_back(std::move(table));
    return ropes_.back().get();
  }

  size_t cache_bytes(int layers, AttentionShape shape, int32_t blocks) const override {
    return cpu_cache_bytes(path_, layers, shape, blocks);
  }
  size_t plane_bytes(int32_t cols, int32_t blocks) const override { return cpu_plane_bytes(cols, blocks); }

  Result<KvCache*> cache(int layers, AttentionShape shape, int32_t blocks, int32_t positions) override {
    auto cache = std::make_unique<CpuCache>();
    cache->blocks = blocks;
    cache->block_tokens = kCacheRows;
    cache->shape = shape;
    cache->layers = layers;
    cache->layout = layout(path_, shape.head_size);
    cache->bytes = cache_bytes(layers, shape, blocks);
    TRY(cache->data, arena_.array<std::byte>(cache->bytes));
    // No sequence can be longer than the cache, so a small cache needs less scratch.
    const int64_t held = int64_t{blocks} * kCacheRows;
    ops_.reserve_context(static_cast<int32_t>(std::min<int64_t>(held, positions)), shape);
    caches_.push_back(std::move(cache));
    return caches_.back().get();
  }

  Result<FeaturePlane*> feature_plane(int32_t cols, int32_t blocks) override {
    auto plane = std::make_unique<CpuPlane>();
    plane->cols = cols;
    plane->bytes = plane_bytes(cols, blocks);
    TRY(plane->data, arena_.array<float>(plane->bytes / sizeof(float)));
    planes_.push_back(std::move(plane));
    return planes_.back().get();
  }

  Result<void> read(const FeaturePlane& plane, std::span<const int32_t> slots, std::span<float> rows) override {
    const auto& store = static_cast<const CpuPlane&>(plane);
    for (const int32_t slot : slots) {
      std::copy_n(store.row(slot), store.cols, rows.begin());
      rows = rows.subspan(static_cast<size_t>(store.cols));
    }
    return {};
  }

  Result<void> write(FeaturePlane& plane, std::span<const int32_t> slots, std::span<const float> rows) override {
    const auto& store = static_cast<const CpuPlane&>(plane);
    for (const int32_t slot : slots) {
      std::copy_n(rows.begin(), store.cols, store.row(slot));
      rows = rows.subspan(static_cast<size_t>(store.cols));
    }
    return {};
  }

  // A copy in q5_1 saves something of q8_0 only, and both must read the same activations.
  Result<OutputScreen*> screen(const Weight& head) override {
    const auto& weight = static_cast<const CpuWeight&>(head);
    const Kernels& table = kernels(path_);
    const auto reads = [&](WeightFormat format) { return linear_kernel(table, format).in; };
    if (weight.parts.size() != 1 || weight.parts.front().format != WeightFormat::q8_0) return nullptr;
    if (reads(WeightFormat::q8_0) != Activations::int8 || reads(WeightFormat::q5_1) != Activations::int8) return nullptr;
    const int64_t bytes = panels_of(weight.out) * panel_bytes(WeightFormat::q5_1, weight.in);
    TRY(std::byte * panels, arena_.array<std::byte>(static_cast<size_t>(bytes)));
    TRY(float* off, arena_.array<float>(static_cast<size_t>(weight.out)));
    TRY(float* norm, arena_.array<float>(static_cast<size_t>(weight.out)));
    screens_.push_back(
        std::make_unique<CpuScreen>(make_screen(table, ops_.pool(), weight.parts.front(), weight.in, panels, off, norm)));
    ops_.reserve_screen(weight.out);
    const auto tokens = static_cast<size_t>(weight.out);
    const bool finite = all_finite({off, tokens}) && all_finite({norm, tokens});  // else beyond the copy's f16 scales
    return finite ? screens_.back().get() : nullptr;
  }

  Result<ColumnMap*> column_map(std::span<const int32_t> columns, int32_t wide) override {
    auto map = std::make_unique<CpuColumnMap>();
    map->narrow = static_cast<int32_t>(columns.size());
    map->wide = wide;
    map->columns.assign(columns.begin(), columns.end());
    map->ascending = std::ranges::is_sorted(columns);
    maps_.push_back(std::move(map));
    return maps_.back().get();
  }

  Result<Tensor> scratch(int32_t rows_max, int32_t cols, Type type) override {
    CHECK(type == Type::f32 || type == Type::i32, "the cpu device keeps activations in f32");
    ops_.reserve_rows(rows_max);
    TRY(void* data, arena_.take(static_cast<size_t>(rows_max) * static_cast<size_t>(cols) * 4));
    return Tensor{.data = data, .rows = rows_max, .cols = cols, .type = type};
  }
  Result<Tensor> output(int32_t rows_max, int32_t cols, Type type) override { return scratch(rows_max, cols, type); }
  Type activations() const override { return Type::f32; }
  const void* host(const Tensor& output) override { return output.data; }

  Result<void> run(const Network& network, const Step& step) override {
    // Steps of two threads would overwrite each other's scratch and give wrong tokens silently.
    CHECK(!running_.exchange(true), "a step begins on a device that runs another");
    ops_.begin(step);
    for (const KvCache* cache : network.caches()) ops_.move(static_cast<const CpuCache&>(*cache), step.moves);
    for (const FeaturePlane* plane : network.planes()) ops_.move(static_cast<const CpuPlane&>(*plane), step.moves);
    network.forward(ops_,
                    {.rows = static_cast<int32_t>(step.token.size()), .wanted = static_cast<int32_t>(step.wanted.size())});
    running_ = false;
    return {};
  }

  bool row_invariant() const override { return true; }
  // Only formats that the network uses count, so that networks with equal weights have equal ids
  // whatever else the device has packed.
  std::string numerics_id(std::span<const Weight* const> weights) const override {
    bool used[kWeightFormats] = {};
    for (const Weight* each : weights) {
      const auto& weight = static_cast<const CpuWeight&>(*each);
      for (const CpuPanels& part : weight.parts) used[static_cast<size_t>(part.format)] = true;
    }
    std::string formats;
    uint32_t hash = 0x811C9DC5;  // FNV-1a over whole words
    for (const WeightFormat format : kAllWeightFormats) {
      if (!used[static_cast<size_t>(format)]) continue;
      formats += (formats.empty() ? "" : "+") + std::string(name(format));
      hash = probe_linear(kernels(path_), format, hash);
    }
    hash = probe_attention(kernels(path_), hash);
    return fmt::format("cpu/{}/{}/{}-{:08x}", name(path_), formats, kKernelVersion, hash);
  }

 private:
  Result<void> fill_gain(std::span<const HostMatrix> stacked, CpuWeight& weight) {
    TRY(float* at, arena_.array<float>(static_cast<size_t>(weight.out) * static_cast<size_t>(weight.in)));
    weight.gain = at;
    for (const HostMatrix& matrix : stacked) {
      const auto cols = static_cast<size_t>(matrix.cols);
      for (int32_t i = 0; i < matrix.rows; ++i, at += cols) {
        read_row(matrix, i, {at, cols});
        if (!all_finite({at, cols})) return not_finite(matrix.name);
      }
    }
    return {};
  }

  // Reading weights is what a pass of few rows takes its time for, so a guess reads 4 bits: no word
  // depends on it.
  WeightFormat format_for(const HostMatrix& matrix, Format format) const {
    const bool in_blocks = matrix.cols % kBlockNumbers == 0;
    const WeightFormat stored = format_of(matrix.dtype), asked = format_.value_or(stored);
    if (format != Format::guess) return asked;
    return guess_format_.value_or(stored == WeightFormat::bf16 && in_blocks ? WeightFormat::q4_1 : asked);
  }

  // Neighbours of one format become one part.
  Result<void> fill_panels(std::span<const HostMatrix> stacked, Format format, CpuWeight& weight) {
    if (weight.in % 2 != 0)
      return fail("tensor {} has {} columns; the cpu device needs an even number", stacked.front().name, weight.in);
    while (!stacked.empty()) {
      const WeightFormat first = format_for(stacked.front(), format);
      const auto other =
          std::ranges::find_if(stacked, [&](const HostMatrix& each) { return format_for(each, format) != first; });
      const auto alike = static_cast<size_t>(other - stacked.begin());
      TRY(CpuPanels part, pack_part(stacked.first(alike), first));
      weight.parts.push_back(part);
      stacked = stacked.subspan(alike);
    }
    ops_.reserve_columns(weight.in);
    return {};
  }

  Result<CpuPanels> pack_part(std::span<const HostMatrix> stacked, WeightFormat format) {
    CpuPanels part{.format = format};
    for (const HostMatrix& matrix : stacked) part.rows += matrix.rows;
    const int32_t cols = stacked.front().cols;
    TRY(std::byte * panels, arena_.array<std::byte>(static_cast<size_t>(panels_of(part.rows) * panel_bytes(format, cols))));
    const auto grain = static_cast<int32_t>(std::max<int64_t>(1, kPackRangeBytes / panel_bytes(format, cols)));
    const PanelLayout layout = linear_kernel(kernels(path_), format).layout;
    std::atomic<const HostMatrix*> damaged = nullptr;  // any one of those that several threads may find
    ops_.pool().run(panels_of(part.rows), grain, [&](int32_t begin, int32_t end, int) {
      const HostMatrix* matrix = pack_rows(stacked, begin * kPanelRows, end * kPanelRows, format, layout, panels);
      if (matrix != nullptr) damaged = matrix;
    });
    if (damaged != nullptr) return not_finite(damaged.load()->name);
    part.panels = panels;
    return part;
  }

  CpuPath path_;
  std::optional<WeightFormat> format_;  // unset: as stored
  std::optional<WeightFormat> guess_format_;
  std::atomic<bool> running_ = false;  // a step
  CpuOps ops_;
  Arena arena_;
  std::vector<std::unique_ptr<CpuWeight>> weights_;
  std::vector<std::unique_ptr<CpuRope>> ropes_;
  std::vector<std::unique_ptr<CpuCache>> caches_;
  std::vector<std::unique_ptr<CpuPlane>> planes_;
  std::vector<std::unique_ptr<CpuColumnMap>> maps_;
  std::vector<std::unique_ptr<CpuScreen>> screens_;
};

}  // namespace

Result<std::unique_ptr<Device>> make_cpu_device(const CpuOptions& options) {
  if (options.threads < 1 || options.threads > kComputeThreadsMax) {
    return fail("{} compute threads were asked for; 1 to {} are possible", options.threads, kComputeThreadsMax);
  }
  const CpuPath path = options.path.value_or(best_cpu_path());
  if (const char* missing = missing_for(path, this_cpu())) {
    return fail("path {} needs {}, which this CPU lacks; leave the path out to use {}", name(path), missing,
                name(best_cpu_path()));
  }
  return std::make_unique<CpuDevice>(path, options);
}

size_t cpu_plane_bytes(int32_t cols, int32_t blocks) {
  return static_cast<size_t>(blocks) * kCacheRows * static_cast<size_t>(cols) * sizeof(float);
}

size_t cpu_cache_bytes(CpuPath path, int layers, AttentionShape shape, int32_t blocks) {
  return static_cast<size_t>(layers) * static_cast<size_t>(blocks) * static_cast<size_t>(shape.kv_heads) *
         static_cast<size_t>(layout(path, shape.head_size).block_bytes());
}

}  // namespace slipstream
