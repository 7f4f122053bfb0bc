// Attention in bf16 or f16 by tensor cores. Each warp of a block has one tile of 32 keys: its
// scores are queries * keys^T, its sums are weights * values. Then the warps' results are joined in
// order.
//
// Fragments come straight from the cache, without shared memory. A product does not depend on the
// order in which its columns are numbered, so a lane takes columns that lie side by side:
//
//   scores   step s has columns t * kHead / 4 + 4 s + {0, 1, 2, 3} in lane t, of queries and keys
//   sums     column j of the fragment n is column j * kHead / 8 + n of the values
#pragma once

#include "kernels/cuda/attend_part.cuh"
#include "kernels/cuda/mma.cuh"

namespace slipstream::cuda {

static_assert(kSplitKeys == kAttendWarps * kTile, "a warp has one tile of a split");

template <int kHead>
struct AttendHalfShared {
  float highest[kAttendWarps][kAttendQueries], total[kAttendWarps][kAttendQueries];
  float sums[kAttendWarps][kAttendQueries][kHead + 4];  // the padding spreads rows over banks
};

struct alignas(8) Words {  // four numbers
  uint32_t low, high;
};

// Of the queries g and g + 8, what a lane knows of a tile.
template <int kHead>
struct TileState {
  float highest[2] = {-INFINITY, -INFINITY}, total[2] = {0, 0};
  float sums[kHead / 8][4] = {};
};

// The keys that a warp computes with: a lane has one key's slot.
struct Keys {
  int32_t slot;
  uint32_t valid;  // a bit for each
  bool mine[2];    // whether the queries g and g + 8 see them
};

// Four numbers from column `col` of a row, zeros behind its end.
template <class T>
__device__ Words four(const T* row, int32_t col, int32_t size) {
  if (col >= size) return {0, 0};
  return *reinterpret_cast<const Words*>(row + col);
}

template <class T, int kHead>
__device__ void load_queries(const AttendArgs& args, const Part& part, uint32_t (&query)[kHead / 16][4]) {
  const auto lane = static_cast<int32_t>(lane_of_thread());
  const int32_t size = args.cache.head_size;
  SLIPSTREAM_UNROLL
  for (int32_t half = 0; half < 2; ++half) {
    const int32_t own = lane / 4 + 8 * half;
    const bool there = own < part.queries;
    const T* from = static_cast<const T*>(args.qkv);
    if (there) from += row_of(part, own) * args.qkv_stride + int64_t{head_of(part, own)} * size;
    SLIPSTREAM_UNROLL
    for (int32_t step = 0; step < kHead / 16; ++step) {
      const Words words = there ? four(from, lane % 4 * (kHead / 4) + 4 * step, size) : Words{0, 0};
      query[step][half] = words.low, query[step][half + 2] = words.high;
    }
  }
}

// The cache's row of the key-th key of a warp.
template <class T>
__device__ const T* cache_row(const AttendArgs& args, const Part& part, const Keys& keys, int32_t key, int32_t which) {
  const int32_t slot = __shfl_sync(kAllLanes, keys.slot, static_cast<uint32_t>(key));
  return static_cast<const T*>(args.cache.data) + args.cache.at(args.layer, slot, part.kv_head, which);
}

// scores[n]: of the keys 8 n to 8 n + 7, scaled; -infinity where a query does not see one.
template <class T, int kHead>
__device__ void score(const AttendArgs& args, const Part& part, const Keys& keys, const uint32_t (&query)[kHead / 16][4],
                      float (&scores)[kTile / 8][4]) {
  const auto lane = static_cast<int32_t>(lane_of_thread());
  const float scale = scale_of(args);
  Words words[kTile / 8][kHead / 16];
  SLIPSTREAM_UNROLL
  for (int32_t n = 0; n < kTile / 8; ++n) {
    const T* key = cache_row<T>(args, part, keys, 8 * n + lane / 4, 0);
    SLIPSTREAM_UNROLL
    for (int32_t step = 0; step < kHead / 16; ++step) {
      words[n][step] = four(key, lane % 4 * (kHead / 4) + 4 * step, args.cache.head_size);
    }
  }
  SLIPSTREAM_UNROLL
  for (int32_t n = 0; n < kTile / 8; ++n) {
    for (float& each : scores[n]) each = 0;
    SLIPSTREAM_UNROLL
    for (int32_t step = 0; step < kHead / 16; ++step) mma(T{}, scores[n], query[step], words[n][step].low, words[n][step].high);
    SLIPSTREAM_UNROLL
    for (int32_t i = 0; i < 4; ++i) {
      const int32_t key = 8 * n + 2 * (lane % 4) + i % 2;
      scores[n][i] = keys.mine[i / 2] && (keys.valid >> key & 1) != 0 ? capped(args, scores[n][i] * scale) : -INFINITY;
    }
  }
}

// Makes scores the weights of a softmax. A query that does not see the keys gets zeros, and keeps
// its state.
template <int kHead>
__device__ void weigh(const Keys& keys, float (&scores)[kTile / 8][4], TileState<kHead>& state) {
  SLIPSTREAM_UNROLL
  for (int32_t half = 0; half < 2; ++half) {
    float highest = -INFINITY, total = 0;
    SLIPSTREAM_UNROLL
    for (int32_t n = 0; n < kTile / 8; ++n) highest = fmaxf(highest, fmaxf(scores[n][2 * half], scores[n][2 * half + 1]));
    for (uint32_t mask = 1; mask < 4; mask *= 2) highest = fmaxf(highest, __shfl_xor_sync(kAllLanes, highest, mask));
    SLIPSTREAM_UNROLL
    for (int32_t n = 0; n < kTile / 8; ++n) {
      SLIPSTREAM_UNROLL
      for (int32_t i = 2 * half; i < 2 * half + 2; ++i) {
        scores[n][i] = keys.mine[half] ? expf(scores[n][i] - highest) : 0;
        total += scores[n][i];
      }
    }
    for (uint32_t mask = 1; mask < 4; mask *= 2) total += __shfl_xor_sync(kAllLanes, total, mask);
    if (keys.mine[half]) state.highest[half] = highest, state.total[half] = total;
  }
}

// state.sums += weights * values.
template <class T, int kHead>
__device__ void sum_values(const AttendArgs& args, const Part& part, const Keys& keys, const float (&weights)[kTile / 8][4],
                           TileState<kHead>& state) {
  constexpr int32_t kColumns = kHead / 8;  // of a lane, side by side
  const auto lane = static_cast<int32_t>(lane_of_thread());
  SLIPSTREAM_UNROLL
  for (int32_t step = 0; step < kTile / 16; ++step) {
    Words words[4][kColumns / 4];
    SLIPSTREAM_UNROLL
    for (int32_t i = 0; i < 4; ++i) {
      const T* value = cache_row<T>(args, part, keys, 16 * step + 2 * (lane % 4) + i % 2 + 8 * (i / 2), 1);
      SLIPSTREAM_UNROLL
      for (int32_t c = 0; c < kColumns / 4; ++c) words[i][c] = four(value, lane / 4 * kColumns + 4 * c, args.cache.head_size);
    }
    const float(&low)[4] = weights[2 * step];
    const float(&high)[4] = weights[2 * step + 1];
    const uint32_t fragment[4] = {pack(T{}, low[0], low[1]), pack(T{}, low[2], low[3]), pack(T{}, high[0], high[1]),
                                  pack(T{}, high[2], high[3])};
    SLIPSTREAM_UNROLL
    for (int32_t c = 0; c < kColumns / 4; ++c) {
      const Words &a = words[0][c], &b = words[1][c], &d = words[2][c], &e = words[3][c];
      mma(T{}, state.sums[4 * c], fragment, lower_halves(a.low, b.low), lower_halves(d.low, e.low));
      mma(T{}, state.sums[4 * c + 1], fragment, upper_halves(a.low, b.low), upper_halves(d.low, e.low));
      mma(T{}, state.sums[4 * c + 2], fragment, lower_halves(a.high, b.high), lower_halves(d.high, e.high));
      mma(T{}, state.sums[4 * c + 3], fragment, upper_halves(a.high, b.high), upper_halves(d.high, e.high));
    }
  }
}

template <class T, int kHead>
__device__ void add_keys(const AttendArgs& args, const Part& part, const Keys& keys, const uint32_t (&query)[kHead / 16][4],
                         TileState<kHead>& state) {
  float scores[kTile / 8][4];
  score<T, kHead>(args, part, keys, query, scores);
  weigh(keys, scores, state);
  sum_values<T>(args, part, keys, scores, state);
}

// The tile of this warp: keys that all queries see, or those of each row's own path, one row after
// the other. A row's arithmetic is the same in both.
template <class T, int kHead>
__device__ void add_tile(const AttendArgs& args, const Part& part, int32_t tile, TileState<kHead>& state) {
  const auto lane = static_cast<int32_t>(lane_of_thread());
  uint32_t query[kHead / 16][4];
  load_queries<T, kHead>(args, part, query);
  if (is_shared(part, tile)) {
    const int32_t slot = part.blocks[tile] * kBlockPositions + lane;
    add_keys<T, kHead>(args, part, {slot, 0xFFFFFFFF, {true, true}}, query, state);
    return;
  }
  for (int32_t row = row_of(part, 0); row <= row_of(part, part.queries - 1); ++row) {
    const Seen seen = seen_of(args, row, tile);
    if (seen.end <= seen.first) continue;
    // Lanes without a key take one that there is: its weight is zero, and a zero times what nobody
    // wrote need not be one.
    const int32_t key = lane < seen.first || lane >= seen.end ? seen.first : lane;
    Keys keys{slot_of(args, part, row, tile * kTile + key), 0, {}};
    for (int32_t i = seen.first; i < seen.end; ++i) keys.valid |= 1u << i;
    for (int32_t half = 0; half < 2; ++half) {
      const int32_t own = lane / 4 + 8 * half;
      keys.mine[half] = own < part.queries && row_of(part, own) == row;
    }
    add_keys<T, kHead>(args, part, keys, query, state);
  }
}

// Brings a warp's state to shared memory: sums only of queries that saw a key.
template <int kHead>
__device__ void share(const TileState<kHead>& state, AttendHalfShared<kHead>& shared) {
  const uint32_t warp = warp_of_thread(), lane = lane_of_thread();
  SLIPSTREAM_UNROLL
  for (uint32_t half = 0; half < 2; ++half) {
    const uint32_t own = lane / 4 + 8 * half;
    if (lane % 4 == 0) shared.highest[warp][own] = state.highest[half], shared.total[warp][own] = state.total[half];
    if (state.highest[half] == -INFINITY) continue;
    SLIPSTREAM_UNROLL
    for (uint32_t n = 0; n < kHead / 8; ++n) {
      const uint32_t col = 2 * (lane % 4) * (kHead / 8) + n;
      shared.sums[warp][own][col] = state.sums[n][2 * half];
      shared.sums[warp][own][col + kHead / 8] = state.sums[n][2 * half + 1];
    }
  }
}

// Joins the warps' states in their order, which is that of the keys.
template <class T, int kHead>
__device__ void join_tiles(const AttendArgs& args, const Part& part, const AttendHalfShared<kHead>& shared) {
  const int32_t size = args.cache.head_size;
  for (auto at = static_cast<int32_t>(threadIdx.x); at < part.queries * size; at += kAttendThreads) {
    const int32_t query = at / size, col = at % size;
    if (!sees(args, row_of(part, query), part.item.first_key / kSplitKeys)) continue;
    float highest = -INFINITY, sum = 0, total = 0;
    for (int32_t warp = 0; warp < kAttendWarps; ++warp) highest = fmaxf(highest, shared.highest[warp][query]);
    for (int32_t warp = 0; warp < kAttendWarps; ++warp) {
      if (shared.highest[warp][query] == -INFINITY) continue;
      const float weight = expf(shared.highest[warp][query] - highest);
      sum = fmaf(shared.sums[warp][query][col], weight, sum);
      total = fmaf(shared.total[warp][query], weight, total);
    }
    put<T>(args, part, query, col, sum, highest, total);
  }
}

template <class T, int kHead>
__global__ void __launch_bounds__(kAttendThreads) attend_half_kernel(AttendArgs args) {
  auto& shared = shared_memory<AttendHalfShared<kHead>>();
  if (args.items[blockIdx.x].rows == 0) return;
  const Part part = part_of(args);
  if (part.queries <= 0) return;
  TileState<kHead> state;
  const int32_t tile = part.item.first_key / kTile + static_cast<int32_t>(warp_of_thread());
  if (tile * kTile < part.keys && (tile + 1) * kTile > part.first) add_tile<T>(args, part, tile, state);
  share(state, shared);
  __syncthreads();
  join_tiles<T>(args, part, shared);
}

}  // namespace slipstream::cuda
