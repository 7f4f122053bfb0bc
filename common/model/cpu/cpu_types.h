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

constexpr int64_t value_stride(int32_t head_size) { return (int64_t{head_size} + kLanes - 1) / kLanes * kLanes; }
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

// [layers][blocks][kv_heads] of keys [head_size, kCacheRows] and values [kCacheRows, value_stride] (AttendArgs).
struct CpuCache final : KvCache {
  AttentionShape shape;
  int layers = 0;
  int64_t value_stride = 0;  // head_size, rounded up to whole vectors
  int64_t head_floats = 0;   // of one block of one head
  float* data = nullptr;

  int64_t block_floats() const { return shape.kv_heads * head_floats; }
  float* head(int layer, int32_t block, int32_t kv_head) const {
    return data + (int64_t{layer} * blocks + block) * block_floats() + kv_head * head_floats;
  }
};

}  // namespace slipstream
