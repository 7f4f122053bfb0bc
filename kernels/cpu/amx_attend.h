// Attention over a bf16 cache by AMX tiles (AttendArgs, kernels.h). Queries and weights are rounded
// to bf16 as well; sums are f32. Private to amx.cpp.
//
// How row invariance is kept:
//   scores   a key's score does not depend on where the key lies
//   values   summed by blocks of 32 keys of the row's own path: blocks of the context as they lie in the cache; the last
//            keys (the rest of the context, and a tree row's ancestors) gathered in path order and padded with zeros
#pragma once

#include "kernels/cpu/amx_softmax.h"
#include "kernels/cpu/amx_tiles.h"
#include "kernels/cpu/attend.h"
#include "kernels/cpu/to_bf16.h"

namespace slipstream {
namespace {

constexpr int32_t kTiledQueriesBest = 2 * kTileRows;

// Gathers the queries as bf16, scaled by 1 / sqrt(head_size) before they are rounded.
void tiled_attend_queries(const AttendArgs& args) {
  auto* to = reinterpret_cast<uint16_t*>(args.queries);
  const float scale = 1.0F / __builtin_sqrtf(static_cast<float>(args.head_size));
  const int32_t each = args.heads * args.head_size;
  for (int32_t row = 0; row < args.rows; ++row, to += each) {
    const float* from = args.query + row * args.query_stride;
    for (int32_t at = 0; at < each; at += kLanes) {
      const int32_t left = each - at, count = left < kLanes ? left : kLanes;
      float scaled[kLanes];
      store(scaled, load_part(from + at, count) * scale);
      to_bf16(scaled, count, to + at);
    }
  }
}

SLIPSTREAM_INLINE const std::byte* tiled_block(const AttendArgs& args, int32_t logical) {
  return args.cache + args.blocks[logical] * args.block_stride;
}

// The values of a pair of positions in a logical block, from `column` on. position: the first of
// the pair, even.
SLIPSTREAM_INLINE const std::byte* tiled_values(const AttendArgs& args, int32_t logical, int32_t position, int32_t column) {
  const CacheLayout layout{.format = CacheFormat::bf16, .head_size = args.head_size, .value_stride = args.value_stride};
  return tiled_block(args, logical) + layout.value(position, column) * layout.element_bytes();
}

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
    const std::byte* keys = tiled_block(args, b);
    const std::byte* next = b + 1 < last_block ? tiled_block(args, b + 1) : keys;
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

// The last keys of one row's path: those of the context behind its last whole block, and the row's
// ancestors.
class PathEnd {
 public:
  PathEnd(const AttendArgs& args, int32_t row) : args_(args) {
    const int32_t visible = args.visible[row];
    for (int32_t position = visible / kCacheRows * kCacheRows; position < visible; ++position) positions_[count_++] = position;
    for (uint64_t bits = args.ancestors[row]; bits != 0; bits &= bits - 1) {
      positions_[count_++] = visible + __builtin_ctzll(bits);
    }
  }
  int32_t blocks() const { return (count_ + kCacheRows - 1) / kCacheRows; }

  // The values of block `block` of these keys, from `column` on: [16 pairs][16 columns a vector].
  const void* gather(int32_t block, int32_t column, int32_t vectors) {
    for (int32_t pair = 0; pair < kTilePairs; ++pair) {
      const int32_t key = block * kCacheRows + 2 * pair;
      for (int32_t v = 0; v < vectors; ++v) {
        const LanesInt even = half(key, column + v * kLanes), odd = half(key + 1, column + v * kLanes) << 16;
        const LanesInt both = even | odd;
        std::memcpy(values_[pair] + v * kLanes, &both, sizeof(both));
      }
    }
    return values_;
  }

 private:
  // 16 columns of the values of one key, each in the low half of a lane. Zeros behind the last key.
  LanesInt half(int32_t key, int32_t column) const {
    LanesInt both{};
    if (key >= count_) return both;
    const int32_t position = positions_[key], inside = position % kCacheRows;
    std::memcpy(&both, tiled_values(args_, position / kCacheRows, inside / 2 * 2, column), sizeof(both));
    return (inside % 2 != 0 ? both >> 16 : both) & 0xFFFF;
  }

  const AttendArgs& args_;
  int32_t count_ = 0;
  int32_t positions_[kCacheRows + kAncestorsMax];
  alignas(64) int32_t values_[kTilePairs][2 * kLanes];
};

// sums = weights * values over the blocks that all rows see whole.
template <bool kWide>
SLIPSTREAM_INLINE void sum_shared(const AttendArgs& args, int32_t blocks, int32_t column, int32_t rows) {
  for_tiles(args.rows * args.heads, rows, [&](auto two, int32_t first, int32_t second) __attribute__((always_inline)) {
    clear_sums();
    for (int32_t b = 0; b < blocks; ++b) {
      add_product<two, kWide>({.first = weights_of(args, b, first),
                               .second = weights_of(args, b, second),
                               .stride = kCacheRows * 4,
                               .weights = tiled_values(args, b, 0, column),
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
    add(tiled_values(args, b, 0, column), int64_t{args.value_stride} * 4);
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
  int32_t shared = args.visible[0];  // blocks that all rows see whole
  for (int32_t row = 1; row < args.rows; ++row) shared = args.visible[row] < shared ? args.visible[row] : shared;
  shared /= kCacheRows;
  const int32_t padded = (last_column + kLanes - 1) / kLanes * kLanes;
  const auto by_columns = [&](const auto& run) __attribute__((always_inline)) {
    int32_t column = first_column;
    for (; column + 2 * kLanes <= padded; column += 2 * kLanes) run(std::true_type(), column);
    if (column < padded) run(std::false_type(), column);
  };
  {
    const int32_t rows = tile_rows(args.rows * args.heads);
    const Tiles tiles(rows, kTilePairs);
    by_columns([&](auto wide, int32_t column) __attribute__((always_inline)) { sum_shared<wide>(args, shared, column, rows); });
  }
  for (int32_t head = 0; head < args.heads; head += kTileRows) {
    const Tiles tiles(tile_rows(args.heads - head), kTilePairs);
    for (int32_t row = 0; row < args.rows; ++row) {
      PathEnd end(args, row);
      by_columns([&](auto wide, int32_t column)
                     __attribute__((always_inline)) { sum_rest<wide>(args, shared, row, head, end, column); });
    }
  }
  divide_sums(args, first_column, last_column);
}

}  // namespace
}  // namespace slipstream
