// AMX tiles: their shapes, and the product that all kernels of the amx path are made of. Private to
// amx.cpp.
//
// A tile instruction adds up each element's products in one fixed way, whatever the tile's other
// rows hold and however many it has.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/lanes.h"

namespace slipstream {
namespace {

constexpr int32_t kTileRows = 16, kTileBytes = 64;  // of a row
constexpr int32_t kTilePairs = 16;  // a pair: two neighbouring bf16 of a row of activations, or of a column of weights

// Tiles 0 to 3 are sums, [rows][16 f32]; 4 and 5 activations, [rows][pairs]; 6 and 7 weights,
// [pairs][16 columns].
class Tiles {
 public:
  Tiles(int32_t rows, int32_t pairs) {
    struct alignas(64) {
      uint8_t palette = 1, start_row = 0, reserved[14] = {};
      uint16_t row_bytes[16] = {};
      uint8_t rows[16] = {};
    } shapes;
    for (int tile = 0; tile < 8; ++tile) {
      shapes.row_bytes[tile] = static_cast<uint16_t>(tile == 4 || tile == 5 ? 4 * pairs : kTileBytes);
      shapes.rows[tile] = static_cast<uint8_t>(tile < 6 ? rows : pairs);
    }
    fence();
    _tile_loadconfig(&shapes);
  }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
  ~Tiles() { _tile_release(); }

  // What was written before is in memory: the intrinsics do not say that they read it.
  static void fence() { asm volatile("" ::: "memory"); }
};

// Activations of one or two tiles of rows, and weights of 16 columns or of 32 that lie side by
// side.
struct Factors {
  const void* first = nullptr;
  const void* second = nullptr;
  int64_t stride = 0;  // bytes between rows
  const void* weights = nullptr;
  int64_t weights_stride = 0;  // between pairs
};

SLIPSTREAM_INLINE void clear_sums() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

template <bool kTwo, bool kWide>
SLIPSTREAM_INLINE void add_product(const Factors& of) {
  _tile_loadd(6, of.weights, of.weights_stride);
  _tile_loadd(4, of.first, of.stride);
  _tile_dpbf16ps(0, 4, 6);
  if constexpr (kTwo) {
    _tile_loadd(5, of.second, of.stride);
    _tile_dpbf16ps(2, 5, 6);
  }
  if constexpr (kWide) {
    _tile_loadd(7, static_cast<const std::byte*>(of.weights) + kTileBytes, of.weights_stride);
    _tile_dpbf16ps(1, 4, 7);
    if constexpr (kTwo) _tile_dpbf16ps(3, 5, 7);
  }
}

// The rows that begin at first, and at second; stride in floats.
template <bool kTwo, bool kWide>
SLIPSTREAM_INLINE void store_sums(float* first, float* second, int64_t stride) {
  _tile_stored(0, first, stride * 4);
  if constexpr (kWide) _tile_stored(1, first + kLanes, stride * 4);
  if constexpr (kTwo) {
    _tile_stored(2, second, stride * 4);
    if constexpr (kWide) _tile_stored(3, second + kLanes, stride * 4);
  }
}

// Calls run(two, first, second) for tiles of `rows` rows that cover [0, count), two at a time.
// count rows or more are there; the last tiles, where they would not be full, take rows along that
// were done already and find the same for them.
template <class Run>
SLIPSTREAM_INLINE void for_tiles(int32_t count, int32_t rows, const Run& run) {
  const int32_t last = count - rows;
  for (int32_t row = 0; row < count; row += 2 * kTileRows) {
    const int32_t second = row + kTileRows;
    if (second < count) {
      run(std::true_type(), row, second < last ? second : last);
    } else {
      run(std::false_type(), row < last ? row : last, 0);
    }
  }
}

constexpr int32_t tile_rows(int32_t count) { return count < kTileRows ? count : kTileRows; }

}  // namespace
}  // namespace slipstream
