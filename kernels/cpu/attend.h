// Attention over an f32 cache (AttendArgs, kernels.h). Private to the kernels' .cpp files
// (lanes.h).
//
// How row invariance is kept:
//   scores   computed for whole cache blocks, one lane per position, so a score does not depend on where its key lies
//   weights  a softmax whose sum runs over the keys in the order of the row's own path
//   values   added in the same order
//
// A query is one head of one row. A tile of queries shares each vector of keys or values that is
// loaded. That changes neither the terms of a query's sums nor their order.
#pragma once

#include <utility>

#include "kernels/cpu/lanes.h"

namespace slipstream {
namespace {

// Queries of a tile: as many as leave its sums and factors in registers.
#if defined(__AVX512F__)
constexpr int32_t kTileQueries = 12;
#elif defined(__AVX2__)
constexpr int32_t kTileQueries = 6;
#else
constexpr int32_t kTileQueries = 5;
#endif
constexpr int32_t kTileVectors = 2, kTileColumns = kTileVectors * kVectorLanes;

// The operands of a tile: queries at one cache block. Strides are in floats.
struct Tile {
  const float* block = nullptr;  // keys, or values from the first column on
  const float* next = nullptr;   // the block after it, to prefetch
  const float* in = nullptr;     // queries, or weights
  float* out = nullptr;          // scores, or sums
  int64_t block_stride = 0, in_stride = 0, out_stride = 0;
  int32_t count = 0;  // elements of a query, or keys
  float scale = 1;    // of scores
};

// sums[t][c] += in[t][k] * block[k][c], for k = 0 .. count - 1 in this order.
template <int kQueries, int kVectors>
SLIPSTREAM_INLINE void multiply_tile(const Tile& tile, Vector (&sums)[kQueries][kVectors]) {
  for (int32_t k = 0; k < tile.count; ++k) {
    const float* from = tile.block + k * tile.block_stride;
    Vector parts[kVectors];
    for (int c = 0; c < kVectors; ++c) {
      parts[c] = load_vector(from + c * kVectorLanes);
      __builtin_prefetch(tile.next + k * tile.block_stride + c * kVectorLanes);
    }
#pragma GCC unroll 12
    for (int t = 0; t < kQueries; ++t) {
      const Vector factor = every(tile.in[t * tile.in_stride + k]);
      for (int c = 0; c < kVectors; ++c) sums[t][c] = multiply_add(factor, parts[c], sums[t][c]);
    }
  }
}

// out[t] = q k * scale for some positions of a block.
template <int kQueries, int kVectors>
void score_tile(const Tile& tile) {
  Vector sums[kQueries][kVectors];
#pragma GCC unroll 12
  for (int t = 0; t < kQueries; ++t) {
    for (int c = 0; c < kVectors; ++c) sums[t][c] = Vector{};
  }
  multiply_tile(tile, sums);
#pragma GCC unroll 12
  for (int t = 0; t < kQueries; ++t) {
    for (int c = 0; c < kVectors; ++c) store_vector(tile.out + t * tile.out_stride + c * kVectorLanes, sums[t][c] * tile.scale);
  }
}

// out[t] += weight * value, over some keys of a block.
template <int kQueries, int kVectors>
void value_tile(const Tile& tile) {
  Vector sums[kQueries][kVectors];
#pragma GCC unroll 12
  for (int t = 0; t < kQueries; ++t) {
    for (int c = 0; c < kVectors; ++c) sums[t][c] = load_vector(tile.out + t * tile.out_stride + c * kVectorLanes);
  }
  multiply_tile(tile, sums);
#pragma GCC unroll 12
  for (int t = 0; t < kQueries; ++t) {
    for (int c = 0; c < kVectors; ++c) store_vector(tile.out + t * tile.out_stride + c * kVectorLanes, sums[t][c]);
  }
}

using QueryTileFn = void (*)(const Tile& tile);
struct QueryTiles {
  QueryTileFn of[kTileQueries];
};
using TileSizes = std::make_integer_sequence<int, kTileQueries>;
constexpr QueryTiles kScoreTiles = []<int... kBelow>(std::integer_sequence<int, kBelow...>) {
  return QueryTiles{{score_tile<kBelow + 1, kTileVectors>...}};
}(TileSizes{});
template <int kVectors>
constexpr QueryTiles kValueTiles = []<int... kBelow>(std::integer_sequence<int, kBelow...>) {
  return QueryTiles{{value_tile<kBelow + 1, kVectors>...}};
}(TileSizes{});

// Runs the queries [0, count) behind the tile's pointers in the fewest tiles. tiles[n - 1] computes
// n queries.
SLIPSTREAM_INLINE void by_tiles(const QueryTileFn (&tiles)[kTileQueries], Tile tile, int32_t count) {
  const int32_t number = (count + kTileQueries - 1) / kTileQueries;
  const float* in = tile.in;
  float* out = tile.out;
  for (int32_t i = 0, query = 0; i < number; ++i) {
    const int32_t next = count * (i + 1) / number;
    tile.in = in + query * tile.in_stride;
    tile.out = out + query * tile.out_stride;
    tiles[next - query - 1](tile);
    query = next;
  }
}

constexpr int32_t kQueriesBest = 24;  // two tiles

[[maybe_unused]] void attend_queries(const AttendArgs& args) {
  const int64_t each = int64_t{args.heads} * args.head_size;
  for (int32_t row = 0; row < args.rows; ++row) {
    std::memcpy(args.queries + row * each, args.query + row * args.query_stride, static_cast<size_t>(each) * sizeof(float));
  }
}

SLIPSTREAM_INLINE const float* block_of(const AttendArgs& args, int32_t logical) {
  return reinterpret_cast<const float*>(args.cache + args.blocks[logical] * args.block_stride);
}

SLIPSTREAM_INLINE float scale_of(const AttendArgs& args) {
  return args.scale != 0 ? args.scale : 1.0F / __builtin_sqrtf(static_cast<float>(args.head_size));
}

[[maybe_unused]] void attend_scores(const AttendArgs& args, int32_t first_block, int32_t last_block) {
  Tile tile{.in = args.queries,
            .block_stride = kCacheRows,
            .in_stride = args.head_size,
            .out_stride = args.scores_stride,
            .count = args.head_size,
            .scale = scale_of(args)};
  for (int32_t b = first_block; b < last_block; ++b) {
    const float* keys = block_of(args, b);
    const float* next = b + 1 < last_block ? block_of(args, b + 1) : keys;
    for (int32_t lane = 0; lane < kCacheRows; lane += kTileColumns) {
      tile.block = keys + lane;
      tile.next = next + lane;
      tile.out = args.scores + int64_t{b - args.first_block} * kCacheRows + lane;
      by_tiles(kScoreTiles.of, tile, args.rows * args.heads);
    }
  }
}

// Moves the scores of a tree row's ancestors behind those of its context, in path order, so that
// scores[p] is that of the p-th key on the row's path, counted from the first block's. Returns the
// number of keys from there on. In place: bits are visited in rising order, so a score never moves
// onto one that is still to be read.
SLIPSTREAM_INLINE int32_t gather_path(const AttendArgs& args, int32_t row, float* scores) {
  const int32_t visible = args.visible[row] - args.first_block * kCacheRows;
  int32_t key = visible;
  for (uint64_t bits = args.ancestors[row]; bits != 0; bits &= bits - 1) {
    scores[key++] = scores[visible + __builtin_ctzll(bits)];
  }
  return key;
}

// Replaces scores by e^(score - highest), with zeros before key `first`, and behind the last key up
// to a whole vector. Returns their sum. Before that the rest of the first and of the last vector is
// filled with the last score, which cannot change the highest.
SLIPSTREAM_INLINE float exponentials(float* scores, int32_t first, int32_t keys) {
  const int32_t begin = first / kLanes * kLanes, whole = keys / kLanes * kLanes, rest = keys - whole;
  for (int32_t i = begin; i < first; ++i) scores[i] = scores[keys - 1];
  for (int32_t i = rest; i != 0 && i < kLanes; ++i) scores[whole + i] = scores[keys - 1];
  const int32_t end = rest != 0 ? whole + kLanes : whole;
  Lanes most;
  for (int32_t i = 0; i < kLaneVectors; ++i) most.part[i] = load_vector(scores + begin + i * kVectorLanes);
  for (int32_t at = begin + kLanes; at < end; at += kLanes) {
    for (int32_t i = 0; i < kLaneVectors; ++i) {
      most.part[i] = greater(most.part[i], load_vector(scores + at + i * kVectorLanes));
    }
  }
  const Vector top = every(highest(most));
  for (int32_t at = begin; at < end; at += kVectorLanes) store_vector(scores + at, exp_of(load_vector(scores + at) - top));
  for (int32_t i = 0; i < first; ++i) scores[i] = 0.0F;
  for (int32_t i = rest; i != 0 && i < kLanes; ++i) scores[whole + i] = 0.0F;
  Lanes total = {};
  for (int32_t at = begin; at < end; at += kLanes) {
    for (int32_t i = 0; i < kLaneVectors; ++i) total.part[i] += load_vector(scores + at + i * kVectorLanes);
  }
  return sum(total);
}

[[maybe_unused]] void attend_weights(const AttendArgs& args, int32_t first_query, int32_t last_query) {
  for (int32_t query = first_query; query < last_query; ++query) {
    float* scores = args.scores + query * args.scores_stride;
    const int32_t row = query / args.heads, keys = gather_path(args, row, scores);
    const int32_t first = first_key(args, row) - args.first_block * kCacheRows;
    for (int32_t at = first / kLanes * kLanes; args.soft_cap > 0 && at < keys; at += kVectorLanes) {
      store_vector(scores + at, soft_capped(load_vector(scores + at), args.soft_cap));
    }
    args.totals[query] = exponentials(scores, first, keys);
  }
}

// Rows [first, last) add the values of `count` positions from `position` on, all in one block.
// Their weights begin at index `key` of the path.
struct ValueRun {
  int32_t first = 0, last = 0, position = 0, key = 0, count = 0;
};
template <int kVectors>
SLIPSTREAM_INLINE void add_values(const AttendArgs& args, const ValueRun& run, int32_t column) {
  const auto values = [&](int32_t position) {
    return block_of(args, position / kCacheRows) + int64_t{args.head_size} * kCacheRows +
           int64_t{position % kCacheRows} * args.value_stride + column;
  };
  const bool more = run.position + kCacheRows < args.visible[run.first];
  const int64_t query = int64_t{run.first} * args.heads;
  by_tiles(kValueTiles<kVectors>.of,
           {.block = values(run.position),
            .next = values(more ? run.position + kCacheRows : run.position),
            .in = args.scores + query * args.scores_stride + run.key - args.first_block * kCacheRows,
            .out = args.sums + query * args.value_stride + column,
            .block_stride = args.value_stride,
            .in_stride = args.scores_stride,
            .out_stride = args.value_stride,
            .count = run.count},
           (run.last - run.first) * args.heads);
}

// Adds the values of kVectors vectors of columns for all rows. Blocks that all rows see whole are
// added for all rows at once; the rest of each row's path follows row by row: the rest of its
// context block by block, then its ancestors one by one. Each row adds its keys in path order
// either way.
template <int kVectors>
void sum_columns(const AttendArgs& args, int32_t column) {
  int32_t shared = args.visible[0];  // positions that all rows see, in whole blocks
  for (int32_t row = 1; row < args.rows; ++row) shared = args.visible[row] < shared ? args.visible[row] : shared;
  shared = shared / kCacheRows * kCacheRows;
  for (int32_t at = args.first_block * kCacheRows; at < shared; at += kCacheRows) {
    add_values<kVectors>(args, {.first = 0, .last = args.rows, .position = at, .key = at, .count = kCacheRows}, column);
  }
  for (int32_t row = 0; row < args.rows; ++row) {
    const int32_t visible = args.visible[row];
    for (int32_t at = shared; at < visible; at += kCacheRows) {
      const int32_t count = visible - at < kCacheRows ? visible - at : kCacheRows;
      add_values<kVectors>(args, {.first = row, .last = row + 1, .position = at, .key = at, .count = count}, column);
    }
    int32_t key = visible;
    for (uint64_t bits = args.ancestors[row]; bits != 0; bits &= bits - 1, ++key) {
      const int32_t position = visible + __builtin_ctzll(bits);
      add_values<kVectors>(args, {.first = row, .last = row + 1, .position = position, .key = key, .count = 1}, column);
    }
  }
}

// out = sums / totals.
SLIPSTREAM_INLINE void divide_sums(const AttendArgs& args, int32_t first_column, int32_t last_column) {
  for (int32_t query = 0; query < args.rows * args.heads; ++query) {
    float* out = args.out + query / args.heads * args.out_stride + int64_t{query % args.heads} * args.head_size;
    const float* sums = args.sums + query * args.value_stride;
    for (int32_t at = first_column; at < last_column; at += kVectorLanes) {
      store_vector_part(out + at, load_vector(sums + at) / args.totals[query], last_column - at);
    }
  }
}

[[maybe_unused]] void attend_values(const AttendArgs& args, int32_t first_column, int32_t last_column) {
  const int32_t queries = args.rows * args.heads;
  const int32_t padded = (last_column + kLanes - 1) / kLanes * kLanes;
  for (int32_t query = 0; query < queries; ++query) {
    float* sums = args.sums + query * args.value_stride;
    for (int32_t at = first_column; at < padded; at += kVectorLanes) store_vector(sums + at, Vector{});
  }
  int32_t column = first_column;
  for (; column + kTileColumns <= padded; column += kTileColumns) {
    sum_columns<kTileVectors>(args, column);
  }
  for (; column < padded; column += kVectorLanes) sum_columns<1>(args, column);
  divide_sums(args, first_column, last_column);
}

}  // namespace
}  // namespace slipstream
