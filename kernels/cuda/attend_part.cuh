// What a block of attention computes, and where its results go: shared by the kernels of f32 and of
// 16 bits (attend.h).
#pragma once

#include "kernels/cuda/attend.h"
#include "kernels/cuda/block.cuh"
#include "kernels/cuda/numbers.cuh"

namespace slipstream::cuda {

inline constexpr int kAttendThreads = 128;
inline constexpr int kAttendWarps = kAttendThreads / kWarp;
inline constexpr int kTile = kBlockPositions;  // keys at a time, one for each lane
static_assert(kTile == kWarp && kSplitKeys % kTile == 0);

// The length of a row's path.
__device__ inline int32_t keys_of(const AttendArgs& args, int32_t row) {
  return args.visible[row] + __popcll(args.ancestors[row]);
}

// The first key of a row's path that its window has.
__device__ inline int32_t first_key_of(const AttendArgs& args, int32_t row) {
  return args.window == 0 ? 0 : max(0, keys_of(args, row) - args.window);
}

__device__ inline float scale_of(const AttendArgs& args) {
  return args.scale != 0 ? args.scale : 1.0F / sqrtf(static_cast<float>(args.cache.head_size));
}
__device__ inline float capped(const AttendArgs& args, float score) {
  return args.soft_cap == 0 ? score : args.soft_cap * tanhf(score / args.soft_cap);
}

// The position of the key-th key on a row's path.
__device__ inline int32_t position_of(const AttendArgs& args, int32_t row, int32_t key) {
  const int32_t visible = args.visible[row];
  if (key < visible) return key;
  uint64_t bits = args.ancestors[row];
  for (int32_t skip = key - visible; skip > 0; --skip) bits &= bits - 1;
  return visible + __ffsll(static_cast<long long>(bits)) - 1;
}

// A block has an item, a key-value head, and up to kAttendQueries of their queries.
struct Part {
  AttendItem item;
  int32_t kv_head, group, first_query, queries;
  int32_t first_shared, shared_keys;  // the keys [first_shared, shared_keys) are seen by all rows, at the same positions
  int32_t first, keys;                // of the split, the first key that any row sees; behind the last
  const int32_t* blocks;
};

__device__ inline Part part_of(const AttendArgs& args) {
  Part part;
  part.item = args.items[blockIdx.x];
  part.kv_head = static_cast<int32_t>(blockIdx.y);
  part.group = args.heads / args.cache.kv_heads;
  part.first_query = static_cast<int32_t>(blockIdx.z) * kAttendQueries;
  part.queries = min(kAttendQueries, part.item.rows * part.group - part.first_query);
  part.shared_keys = args.visible[part.item.first_row];
  part.first_shared = part.keys = 0;
  part.first = INT32_MAX;
  for (int32_t row = part.item.first_row; row < part.item.first_row + part.item.rows; ++row) {
    part.shared_keys = min(part.shared_keys, args.visible[row]);
    part.keys = max(part.keys, keys_of(args, row));
    part.first_shared = max(part.first_shared, first_key_of(args, row));
    part.first = min(part.first, first_key_of(args, row));
  }
  part.first = max(part.first, part.item.first_key);
  part.keys = min(part.keys, part.item.first_key + kSplitKeys);
  part.blocks = args.block_table + int64_t{args.sequence[part.item.first_row]} * args.blocks_max;
  return part;
}

__device__ inline int32_t row_of(const Part& part, int32_t query) {
  return part.item.first_row + (part.first_query + query) / part.group;
}
__device__ inline int32_t head_of(const Part& part, int32_t query) {
  return part.kv_head * part.group + (part.first_query + query) % part.group;
}
// Whether all rows see all keys of a tile, at the same positions.
__device__ inline bool is_shared(const Part& part, int32_t tile) {
  return tile * kTile >= part.first_shared && (tile + 1) * kTile <= part.shared_keys;
}

// Of a tile, the keys [first, end) that a row sees; none if end <= first.
struct Seen {
  int32_t first, end;
};
__device__ inline Seen seen_of(const AttendArgs& args, int32_t row, int32_t tile) {
  return {max(0, first_key_of(args, row) - tile * kTile), min(kTile, keys_of(args, row) - tile * kTile)};
}
// The slot of a key of a row's path.
__device__ inline int32_t slot_of(const AttendArgs& args, const Part& part, int32_t row, int32_t key) {
  const int32_t position = position_of(args, row, key);
  return part.blocks[position / kBlockPositions] * kBlockPositions + position % kBlockPositions;
}

// Whether a row sees any key of a split.
__device__ inline bool sees(const AttendArgs& args, int32_t row, int32_t split) {
  return split * kSplitKeys < keys_of(args, row) && (split + 1) * kSplitKeys > first_key_of(args, row);
}

// The place of a partial result: head_size sums, then the highest score, then the total.
__device__ inline float* part_at(const AttendArgs& args, int32_t row, int32_t split, int32_t head) {
  return args.parts + (int64_t{args.first_part[row] + split} * args.heads + head) * (args.cache.head_size + 2);
}

// A query's sum of one column over a split goes out, or to the partial results if its path has more
// splits. highest and total: of its softmax over the split. REQUIRES: its row sees the split.
template <class T>
__device__ void put(const AttendArgs& args, const Part& part, int32_t query, int32_t col, float sum, float highest,
                    float total) {
  const int32_t row = row_of(part, query), head = head_of(part, query), size = args.cache.head_size;
  if (keys_of(args, row) <= kSplitKeys) {
    store(static_cast<T*>(args.out) + (int64_t{row} * args.heads + head) * size + col, sum / total);
    return;
  }
  float* partial = part_at(args, row, part.item.first_key / kSplitKeys, head);
  partial[col] = sum;
  if (col == 0) partial[size] = highest, partial[size + 1] = total;
}

}  // namespace slipstream::cuda
