// Attention over a bf16 cache (bf16_attend.h) by VDPBF16PS, which multiplies two pairs of numbers
// and adds both products. Private to avx512_bf16.cpp.
//
// A tile of queries shares each vector of keys or values that is loaded. That changes neither the
// terms of a query's sums nor their order.
#pragma once

#include <utility>

#include "kernels/cpu/bf16_attend.h"

namespace slipstream {
namespace {

constexpr int32_t kPairQueries = 12;  // of a tile: with two vectors each, 24 sums stay in registers
constexpr int32_t kPairQueriesBest = 2 * kPairQueries;
constexpr int32_t kVectorBytes = 64;

// The operands of a tile. Strides are in bytes.
struct PairTile {
  const void* block = nullptr;  // pairs of columns of keys, or of positions of values: [pairs][vectors * 16][2]
  int64_t block_stride = 0;
  const void* in = nullptr;  // pairs of queries, or of weights: [queries][pairs]
  int64_t in_stride = 0;
  int32_t pairs = 0;
  const void* next = nullptr;  // what is loaded next like the block, to prefetch
};

// sums[t][c] += in[t] * block[c], pair by pair.
template <int kQueries, int kVectors>
SLIPSTREAM_INLINE void add_pairs(const PairTile& tile, __m512 (&sums)[kQueries][kVectors]) {
  for (int32_t pair = 0; pair < tile.pairs; ++pair) {
    const std::byte* from = static_cast<const std::byte*>(tile.block) + pair * tile.block_stride;
    const std::byte* next = static_cast<const std::byte*>(tile.next) + pair * tile.block_stride;
    __m512bh parts[kVectors];
    for (int c = 0; c < kVectors; ++c) {
      parts[c] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(from + c * kVectorBytes));
      __builtin_prefetch(next + c * kVectorBytes);
    }
#pragma GCC unroll 12
    for (int t = 0; t < kQueries; ++t) {
      int32_t both;
      std::memcpy(&both, static_cast<const std::byte*>(tile.in) + t * tile.in_stride + 4 * pair, sizeof(both));
      const auto factors = reinterpret_cast<__m512bh>(_mm512_set1_epi32(both));
      for (int c = 0; c < kVectors; ++c) sums[t][c] = _mm512_dpbf16_ps(sums[t][c], parts[c], factors);
    }
  }
}

// The sums of a tile, in registers while they are added to.
template <int kQueries, int kVectors>
struct PairSums {
  __m512 of[kQueries][kVectors];

  PairSums() {
#pragma GCC unroll 12
    for (int t = 0; t < kQueries; ++t) {
      for (int c = 0; c < kVectors; ++c) of[t][c] = _mm512_setzero_ps();
    }
  }
  PairSums(const float* from, int64_t stride) {  // stride: floats between queries
#pragma GCC unroll 12
    for (int t = 0; t < kQueries; ++t) {
      for (int c = 0; c < kVectors; ++c) of[t][c] = _mm512_loadu_ps(from + t * stride + c * kLanes);
    }
  }
  void store(float* to, int64_t stride) const {
#pragma GCC unroll 12
    for (int t = 0; t < kQueries; ++t) {
      for (int c = 0; c < kVectors; ++c) _mm512_storeu_ps(to + t * stride + c * kLanes, of[t][c]);
    }
  }
};

// Calls run(size, first), with the size a constant, for the fewest tiles of queries that cover
// [0, count).
template <class Run>
SLIPSTREAM_INLINE void by_pair_tiles(int32_t count, const Run& run) {
  const int32_t number = (count + kPairQueries - 1) / kPairQueries;
  for (int32_t i = 0, first = 0; i < number; ++i) {
    const int32_t next = count * (i + 1) / number, size = next - first;
    [&]<int... kBelow>(std::integer_sequence<int, kBelow...>) {
      (void)((size == kBelow + 1 && (run(std::integral_constant<int, kBelow + 1>(), first), true)) || ...);
    }(std::make_integer_sequence<int, kPairQueries>());
    first = next;
  }
}

void pair_attend_scores(const AttendArgs& args, int32_t first_block, int32_t last_block) {
  const auto* queries = reinterpret_cast<const uint16_t*>(args.queries);
  for (int32_t b = first_block; b < last_block; ++b) {
    const std::byte* keys = bf16_block(args, b);
    const std::byte* next = b + 1 < last_block ? bf16_block(args, b + 1) : keys;
    by_pair_tiles(args.rows * args.heads, [&](auto size, int32_t first) {
      PairSums<size, 2> scores;
      add_pairs({.block = keys,
                 .block_stride = 2 * kVectorBytes,
                 .in = queries + first * args.head_size,
                 .in_stride = int64_t{args.head_size} * 2,
                 .pairs = args.head_size / 2,
                 .next = next},
                scores.of);
      scores.store(scores_of(args, b, first), kCacheRows);
    });
  }
}

// The weights of the queries from `query` on for one block of keys, times values that lie in
// `values` or in the cache.
SLIPSTREAM_INLINE PairTile value_pairs(const AttendArgs& args, int32_t path_block, int64_t query, const void* values,
                                       int64_t stride, const void* next) {
  return {.block = values,
          .block_stride = stride,
          .in = weights_of(args, path_block, query),
          .in_stride = kCacheRows * 4,
          .pairs = kBlockPairs,
          .next = next};
}

// sums = weights * values over the blocks that all rows see whole.
template <int kVectors>
void sum_shared_pairs(const AttendArgs& args, int32_t blocks, int32_t column) {
  const int64_t stride = int64_t{args.value_stride} * 4;
  by_pair_tiles(args.rows * args.heads, [&](auto size, int32_t first) {
    PairSums<size, kVectors> sums;
    for (int32_t b = args.first_block; b < blocks; ++b) {
      const std::byte* next = bf16_values(args, b + 1 < blocks ? b + 1 : b, 0, column);
      add_pairs(value_pairs(args, b, first, bf16_values(args, b, 0, column), stride, next), sums.of);
    }
    sums.store(args.sums + first * args.value_stride + column, args.value_stride);
  });
}

// sums += weights * values over the blocks behind those, for the heads of one row.
template <int kVectors>
void sum_rest_pairs(const AttendArgs& args, int32_t shared, int32_t row, PathEnd& end, int32_t column) {
  const int64_t stride = int64_t{args.value_stride} * 4;
  by_pair_tiles(args.heads, [&](auto size, int32_t head) {
    const int64_t query = int64_t{row} * args.heads + head;
    float* at = args.sums + query * args.value_stride + column;
    PairSums<size, kVectors> sums(at, args.value_stride);
    int32_t path_block = shared;
    for (; path_block < args.visible[row] / kCacheRows; ++path_block) {
      const std::byte* values = bf16_values(args, path_block, 0, column);
      add_pairs(value_pairs(args, path_block, query, values, stride, values), sums.of);
    }
    for (int32_t b = 0; b < end.blocks(); ++b, ++path_block) {
      const void* values = end.gather(b, column, kVectors);
      add_pairs(value_pairs(args, path_block, query, values, 2 * kVectorBytes, values), sums.of);
    }
    sums.store(at, args.value_stride);
  });
}

// First the blocks that all rows see whole, in tiles of queries of all rows; then the rest of each
// row's path, in tiles of its heads, since these rows share no keys.
void pair_attend_values(const AttendArgs& args, int32_t first_column, int32_t last_column) {
  const int32_t shared = shared_blocks(args);
  by_columns(first_column, last_column,
             [&](auto wide, int32_t column) { sum_shared_pairs<wide ? 2 : 1>(args, shared, column); });
  for (int32_t row = 0; row < args.rows; ++row) {
    PathEnd end(args, row);
    by_columns(first_column, last_column,
               [&](auto wide, int32_t column) { sum_rest_pairs<wide ? 2 : 1>(args, shared, row, end, column); });
  }
  divide_sums(args, first_column, last_column);
}

}  // namespace
}  // namespace slipstream
