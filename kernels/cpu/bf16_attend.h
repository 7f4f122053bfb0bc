// Attention over a bf16 cache (AttendArgs, kernels.h): what the paths that have one share. Queries
// and weights are rounded to bf16 as well; sums are f32. Private to those paths' .cpp files.
//
// How row invariance is kept:
//   scores   a key's score does not depend on where the key lies
//   weights  scores are moved into path order first; key p is added in lane p mod 16 (bf16_softmax.h)
//   values   summed by blocks of 32 keys of the row's own path: blocks of the context as they lie in the cache; the last
//            keys (the rest of the context, and a tree row's ancestors) gathered in path order and padded with zeros
#pragma once

#include "kernels/cpu/attend.h"
#include "kernels/cpu/bf16_softmax.h"
#include "kernels/cpu/to_bf16.h"

namespace slipstream {
namespace {

constexpr int32_t kBlockPairs = kCacheRows / 2;  // pairs of positions of a block

// Gathers the queries as bf16, scaled before they are rounded.
void bf16_attend_queries(const AttendArgs& args) {
  auto* to = reinterpret_cast<uint16_t*>(args.queries);
  const float scale = scale_of(args);
  const int32_t each = args.heads * args.head_size;
  for (int32_t row = 0; row < args.rows; ++row, to += each) {
    const float* from = args.query + row * args.query_stride;
    for (int32_t at = 0; at < each; at += kLanes) {
      const int32_t left = each - at, count = left < kLanes ? left : kLanes;
      float scaled[kLanes];
      store_vector(scaled, load_vector_part(from + at, count) * scale);
      to_bf16(scaled, count, to + at);
    }
  }
}

SLIPSTREAM_INLINE const std::byte* bf16_block(const AttendArgs& args, int32_t logical) {
  return args.cache + args.blocks[logical] * args.block_stride;
}

// The values of a pair of positions in a logical block, from `column` on. position: the first of
// the pair, even.
SLIPSTREAM_INLINE const std::byte* bf16_values(const AttendArgs& args, int32_t logical, int32_t position, int32_t column) {
  const CacheLayout layout{.format = CacheFormat::bf16, .head_size = args.head_size, .value_stride = args.value_stride};
  return bf16_block(args, logical) + layout.value(position, column) * layout.element_bytes();
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

  // The values of block `block` of these keys, from `column` on: [16 pairs][32 columns][2], of
  // which 16 * vectors columns are set.
  const void* gather(int32_t block, int32_t column, int32_t vectors) {
    for (int32_t pair = 0; pair < kBlockPairs; ++pair) {
      const int32_t key = block * kCacheRows + 2 * pair;
      for (int32_t v = 0; v < vectors; ++v) {
        const VectorInt even = half(key, column + v * kLanes), odd = half(key + 1, column + v * kLanes) << 16;
        const VectorInt both = even | odd;
        std::memcpy(values_[pair] + v * kLanes, &both, sizeof(both));
      }
    }
    return values_;
  }

 private:
  // 16 columns of the values of one key, each in the low half of a lane. Zeros behind the last key.
  VectorInt half(int32_t key, int32_t column) const {
    VectorInt both{};
    if (key >= count_) return both;
    const int32_t position = positions_[key], inside = position % kCacheRows;
    std::memcpy(&both, bf16_values(args_, position / kCacheRows, inside / 2 * 2, column), sizeof(both));
    return (inside % 2 != 0 ? both >> 16 : both) & 0xFFFF;
  }

  const AttendArgs& args_;
  int32_t count_ = 0;
  int32_t positions_[kCacheRows + kAncestorsMax];
  alignas(64) int32_t values_[kBlockPairs][2 * kLanes];
};

// Calls run(wide, column) for 32 columns at a time, and for the last 16 if these are left.
template <class Run>
SLIPSTREAM_INLINE void by_columns(int32_t first_column, int32_t last_column, const Run& run) {
  const int32_t padded = (last_column + kLanes - 1) / kLanes * kLanes;
  int32_t column = first_column;
  for (; column + 2 * kLanes <= padded; column += 2 * kLanes) run(std::true_type(), column);
  if (column < padded) run(std::false_type(), column);
}

// Blocks that all rows see whole.
SLIPSTREAM_INLINE int32_t shared_blocks(const AttendArgs& args) {
  int32_t shared = args.visible[0];
  for (int32_t row = 1; row < args.rows; ++row) shared = args.visible[row] < shared ? args.visible[row] : shared;
  return shared / kCacheRows;
}

// What the tables of all paths with a bf16 cache have in common.
constexpr Kernels with_bf16_cache(Kernels kernels) {
  kernels.to_bf16 = to_bf16;
  kernels.cache = CacheFormat::bf16;
  kernels.attend_queries = bf16_attend_queries;
  kernels.attend_weights = bf16_attend_weights;
  return kernels;
}

}  // namespace
}  // namespace slipstream
