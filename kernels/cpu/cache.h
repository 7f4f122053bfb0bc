// The layout of a cache block of one key-value head: first the keys, then the values.
//
//   f32    keys [head_size][32 positions]            values [32 positions][value_stride]
//   bf16   keys [head_size / 2][32 positions][2]     values [16][value_stride][2 positions]
//
// Keys are transposed, so that each vector lane of a score is a position. In bf16 the two numbers
// that one product instruction takes together are neighbours: two columns of a key, two positions
// of a value.
#pragma once

#include <cstdint>

namespace slipstream {

enum class CacheFormat : uint8_t { f32, bf16 };

inline constexpr int32_t kCacheRows = 32;  // positions of one cache block

struct CacheLayout {
  CacheFormat format = CacheFormat::f32;
  int32_t head_size = 0;     // even in bf16
  int32_t value_stride = 0;  // at least head_size

  constexpr int64_t element_bytes() const { return format == CacheFormat::f32 ? 4 : 2; }
  constexpr int64_t block_bytes() const { return int64_t{kCacheRows} * (head_size + value_stride) * element_bytes(); }

  // Offsets in elements from the start of the block; position in [0, kCacheRows).
  constexpr int64_t key(int32_t position, int32_t column) const {
    if (format == CacheFormat::f32) return int64_t{column} * kCacheRows + position;
    return int64_t{column / 2} * 2 * kCacheRows + 2 * position + column % 2;
  }
  constexpr int64_t values() const { return int64_t{head_size} * kCacheRows; }
  constexpr int64_t value(int32_t position, int32_t column) const {
    if (format == CacheFormat::f32) return values() + int64_t{position} * value_stride + column;
    return values() + int64_t{position / 2} * 2 * value_stride + 2 * column + position % 2;
  }
};

}  // namespace slipstream
