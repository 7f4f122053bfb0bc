// AMX tiles: their shapes, and the product that all kernels of the amx path are made of. Private to
// amx.cpp.
//
// Row invariance: a tile instruction adds the products of each element in one fixed order, whatever
// the tile's other rows hold and however many there are.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/lanes.h"

namespace slipstream {
namespace {

constexpr int32_t kTileRows = 16, kTileBytes = 64;  // rows of a tile, and bytes of a row
constexpr int32_t kTilePairs = 16;  // a pair: two neighbouring bf16 of a row of activations, or of a column of weights

// Configures the tiles while it lives:
//
//   tiles 0-3   sums             [rows][columns] f32
//   tiles 4-5   first factors    [rows][pairs]
//   tiles 6-7   second factors   [pairs][columns]
//
// Here the first factors are activations and the second ones weights; in amx_small_linear.h it is
// the other way round.
class Tiles {
 public:
  Tiles(int32_t rows, int32_t pairs, int32_t columns = kLanes) {
    struct alignas(64) {
      uint8_t palette = 1, start_row = 0, reserved[14] = {};
      uint16_t row_bytes[16] = {};
      uint8_t rows[16] = {};
    } shapes;
    for (int tile = 0; tile < 8; ++tile) {
      shapes.row_bytes[tile] = static_cast<uint16_t>(4 * (tile == 4 || tile == 5 ? pairs : columns));
      shapes.rows[tile] = static_cast<uint8_t>(tile < 6 ? rows : pairs);
    }
    fence();
    _tile_loadconfig(&shapes);
  }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
  ~Tiles() { _tile_release(); }

  // Makes the compiler write earlier stores to memory before tiles are loaded: the intrinsics do
  // not declare that they read memory.
  static void fence() { asm volatile("" ::: "memory"); }
};

// The operands of add_product: one or two tiles of activations, and weights of 16 columns or of 32
// neighbouring ones.
struct Factors {
  const void* first = nullptr;
  const void* second = nullptr;
  int64_t stride = 0;  // bytes between rows
  const void* weights = nullptr;
  int64_t weights_stride = 0;  // bytes between pairs
};

SLIPSTREAM_INLINE void clear_sums() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

// sums += activations * weights. kTwo: two tiles of activations. kWide: 32 columns of weights.
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

// Stores the sums of the first tile of rows at `first`, those of the second at `second`. stride:
// floats between rows.
template <bool kTwo, bool kWide>
SLIPSTREAM_INLINE void store_sums(float* first, float* second, int64_t stride) {
  _tile_stored(0, first, stride * 4);
  if constexpr (kWide) _tile_stored(1, first + kLanes, stride * 4);
  if constexpr (kTwo) {
    _tile_stored(2, second, stride * 4);
    if constexpr (kWide) _tile_stored(3, second + kLanes, stride * 4);
  }
}

// Calls run(two, first, second) for tiles of `rows` rows that cover [0, count), two tiles at a
// time. A last tile that would not be full begins earlier: it computes some rows a second time,
// with the same result. REQUIRES (unchecked): rows <= count.
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
