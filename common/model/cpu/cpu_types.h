// What the cpu device hands out behind the opaque types of ops.h. Private to common/model/cpu.
#pragma once

#include <vector>

#include "common/model/device.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/panels.h"

namespace slipstream {

inline float* row_of(const Tensor& tensor, int32_t row) {
  return static_cast<float*>(tensor.data) + int64_t{row} * tensor.cols;
}

// Scratch is made of these: a tile's row, or a vector, that two lines share takes two loads.
struct alignas(64) CacheLine {
  std::byte bytes[64];
};
constexpr size_t lines_of(int64_t bytes) {
  constexpr auto kLine = static_cast<int64_t>(sizeof(CacheLine));
  return static_cast<size_t>((bytes + kLine - 1) / kLine);
}

constexpr int32_t value_stride(int32_t head_size) { return (head_size + kLanes - 1) / kLanes * kLanes; }
constexpr int32_t blocks_of(int32_t positions) { return (positions + kCacheRows - 1) / kCacheRows; }

struct CpuWeight final : Weight {
  const float* gain = nullptr;        // Format::f32: [out, in]
  const std::byte* panels = nullptr;  // a matrix (kernels/cpu/panels.h)
  WeightFormat format = WeightFormat::bf16;
};

struct CpuRope final : RopeTable {
  int32_t half = 0;                 // head_size / 2
  std::vector<float> cosine, sine;  // [positions, half]
};

// [layers][blocks][kv_heads] of blocks as the path's kernels read them (kernels/cpu/cache.h).
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

}  // namespace slipstream
