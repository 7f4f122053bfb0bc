// Attention over a bf16 cache (bf16_attend.h) by AMX tiles. Private to amx.cpp.
#pragma once

#include "kernels/cpu/amx_tiles.h"
#include "kernels/cpu/bf16_attend.h"

namespace slipstream {
namespace {

constexpr int32_t kTiledQueriesBest = 2 * kTileRows;
static_assert(kBlockPairs == kTilePairs);

// Pairs of columns of a step: the most that a tile holds and that divide the head.
constexpr int32_t step_pairs(int32_t head_size) {
  int32_t pairs = kTilePairs;
  while (head_size / 2 % pairs != 0) --pairs;
  return pairs;
}

// Prefetches the next block while it computes the present one: a block is read once, so memory is
// what bounds it.
void tiled_attend_scores(const AttendArgs& args, int32_t first_block, int32_t last_block) {
  constexpr int32_t kPairStride = 4 * kCacheRows;
  const int32_t queries = args.rows * args.heads, rows = tile_rows(queries), pairs = step_pairs(args.head_size);
  const Tiles tiles(rows, pairs);
  for (int32_t b = first_block; b < last_block; ++b) {
    const std::byte* keys = bf16_block(args, b);
    const std::byte* next = b + 1 < last_block ? bf16_block(args, b + 1) : keys;
    for (int32_t pair = 0; pair < args.head_size / 2; ++pair) {
      __builtin_prefetch(next + pair * kPairStride);
      __builtin_prefetch(next + pair * kPairStride + kTileBytes);
    }
    for_tiles(queries, rows, [&](auto two, int32_t first, int32_t second) __attribute__((always_inline)) {
      const auto* in = reinterpret_cast<const uint16_t*>(args.queries);
      clear_sums();
      for (int32_t pair = 0; pair < args.head_size / 2; pair += pairs) {
        add_product<two, true>({.first = in + first * args.head_size + 2 * pair,
                                .second = in + second * args.head_size + 2 * pair,
                                .stride = int64_t{args.head_size} * 2,
                                .weights = keys + pair * kPairStride,
                                .weights_stride = kPairStride});
      }
      store_sums<two, true>(scores_of(args, b, first), scores_of(args, b, second), kCacheRows);
    });
  }
}

// sums = weights * values over the blocks that all rows see whole.
template <bool kWide>
SLIPSTREAM_INLINE void sum_shared(const AttendArgs& args, int32_t blocks, int32_t column, int32_t rows) {
  for_tiles(args.rows * args.heads, rows, [&](auto two, int32_t first, int32_t second) __attribute__((always_inline)) {
    clear_sums();
    for (int32_t b = args.first_block; b < blocks; ++b) {
      add_product<two, kWide>({.first = weights_of(args, b, first),
                               .second = weights_of(args, b, second),
                               .stride = kCacheRows * 4,
                               .weights = bf16_values(args, b, 0, column),
                               .weights_stride = int64_t{args.value_stride} * 4});
    }
    float* sums = args.sums + column;
    store_sums<two, kWide>(sums + first * args.value_stride, sums + second * args.value_stride, args.value_stride);
  });
}

// sums += weights * values over the blocks behind those, for a tile of heads of one row.
template <bool kWide>
SLIPSTREAM_INLINE void sum_rest(const AttendArgs& args, int32_t shared, int32_t row, int32_t head, PathEnd& end,
                                int32_t column) {
  const int64_t query = int64_t{row} * args.heads + head;
  float* sums = args.sums + query * args.value_stride + column;
  Tiles::fence();
  _tile_loadd(0, sums, int64_t{args.value_stride} * 4);
  if constexpr (kWide) _tile_loadd(1, sums + kLanes, int64_t{args.value_stride} * 4);
  int32_t path_block = shared;
  const auto add = [&](const void* values, int64_t stride) __attribute__((always_inline)) {
    add_product<false, kWide>({.first = weights_of(args, path_block++, query),
                               .stride = kCacheRows * 4,
                               .weights = values,
                               .weights_stride = stride});
  };
  for (int32_t b = shared; b < args.visible[row] / kCacheRows; ++b) {
    add(bf16_values(args, b, 0, column), int64_t{args.value_stride} * 4);
  }
  for (int32_t b = 0; b < end.blocks(); ++b) {
    const void* values = end.gather(b, column, kWide ? 2 : 1);
    Tiles::fence();
    add(values, 2 * kTileBytes);
  }
  store_sums<false, kWide>(sums, nullptr, args.value_stride);
}

// First the blocks that all rows see whole, in tiles of queries of all rows; then the rest of each
// row's path, in tiles of its heads, since these rows share no keys. The shape of the tiles
// differs, so each part configures them anew.
void tiled_attend_values(const AttendArgs& args, int32_t first_column, int32_t last_column) {
  const int32_t shared = shared_blocks(args);
  {
    const int32_t rows = tile_rows(args.rows * args.heads);
    const Tiles tiles(rows, kTilePairs);
    by_columns(first_column, last_column,
               [&](auto wide, int32_t column) __attribute__((always_inline)) { sum_shared<wide>(args, shared, column, rows); });
  }
  for (int32_t head = 0; head < args.heads; head += kTileRows) {
    const Tiles tiles(tile_rows(args.heads - head), kTilePairs);
    for (int32_t row = 0; row < args.rows; ++row) {
      PathEnd end(args, row);
      by_columns(first_column, last_column, [&](auto wide, int32_t column) __attribute__((always_inline)) {
        sum_rest<wide>(args, shared, row, head, end, column);
      });
    }
  }
  divide_sums(args, first_column, last_column);
}

}  // namespace
}  // namespace slipstream
