// The cpu device's types behind the opaque types of common/model/ops.h. Private to
// common/model/cpu.
#pragma once

#include <algorithm>
#include <vector>

#include "common/model/device.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/panels.h"

namespace slipstream {

inline float* row_of(const Tensor& tensor, int32_t row) {
  return static_cast<float*>(tensor.data) + int64_t{row} * tensor.cols;
}

// The unit of scratch memory. It aligns tile rows and vectors to cache lines: one that lies across
// two lines takes two loads.
struct alignas(64) CacheLine {
  std::byte bytes[64];
};
constexpr size_t lines_of(int64_t bytes) {
  constexpr auto kLine = static_cast<int64_t>(sizeof(CacheLine));
  return static_cast<size_t>((bytes + kLine - 1) / kLine);
}

inline constexpr int64_t kRangeElements = 8192;  // of a range of an element-wise loop: some microseconds, worth waking a thread
// Rows of a range that has about `range` elements, if a row has `each`.
constexpr int32_t grain_for(int64_t range, int64_t each) {
  return static_cast<int32_t>(std::max<int64_t>(1, range / std::max<int64_t>(1, each)));
}

constexpr int32_t value_stride(int32_t head_size) { return (head_size + kLanes - 1) / kLanes * kLanes; }
constexpr int32_t blocks_of(int32_t positions) { return (positions + kCacheRows - 1) / kCacheRows; }

// Neighbouring rows of a weight in one format (kernels/cpu/panels.h).
struct CpuPanels {
  const std::byte* panels = nullptr;
  WeightFormat format = WeightFormat::bf16;
  int32_t rows = 0;
};

// Panels that a thread takes at a time: the last ranges are a small part of its share, so that all
// threads end together.
constexpr int32_t panels_at_once(int32_t panels, int threads) {
  constexpr int32_t kRangesOfAThread = 128;
  return std::max(1, panels / (threads * kRangesOfAThread));
}

struct CpuWeight final : Weight {
  const float* gain = nullptr;   // [out, in], of a Format::f32 weight
  std::vector<CpuPanels> parts;  // of any other weight, in the order of its rows
};

struct CpuRope final : RopeTable {
  int32_t half = 0;                 // head_size / 2
  std::vector<float> cosine, sine;  // [positions, half]
};

// data: [layers][blocks][kv_heads] cache blocks in the layout of kernels/cpu/cache.h.
struct CpuCache final : KvCache {
  AttentionShape shape;
  int layers = 0;
  CacheLayout layout;
  std::byte* data = nullptr;

  int64_t block_bytes() const { return shape.kv_heads * layout.block_bytes(); }
  std::byte* head(int layer, int32_t block, int32_t kv_head) const {
    return data + (int64_t{layer} * blocks + block) * block_bytes() + kv_head * layout.block_bytes();
  }
};

struct CpuPlane final : FeaturePlane {
  float* data = nullptr;  // [slots, cols]

  float* row(int32_t slot) const { return data + int64_t{slot} * cols; }
};

struct CpuColumnMap final : ColumnMap {
  std::vector<int32_t> columns;  // [narrow]
  bool ascending = false;
};

}  // namespace slipstream
