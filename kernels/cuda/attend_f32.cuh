// Attention in f32, without tensor cores, which have no products of f32. Tiles that all queries of
// a block see go through shared memory, once for all of them.
#pragma once

#include "kernels/cuda/attend_part.cuh"

namespace slipstream::cuda {

inline constexpr int kOwn = kAttendQueries / kAttendWarps;  // queries of a warp

template <int kHead>
struct AttendF32Shared {
  float queries[kAttendQueries][kHead];
  float tile[kTile][kHead + 1];  // keys, then values; the padding gives each lane a bank of its own
};

// A query's softmax so far: the highest score, and the sums of e^(score - highest) and of that
// times the values. A lane has the columns lane + 32 c.
template <int kHead>
struct Running {
  float highest, total, sums[kHead / kWarp];
};

// The queries, scaled; zeros where a block has fewer.
template <int kHead>
__device__ void stage_queries(const AttendArgs& args, const Part& part, AttendF32Shared<kHead>& shared) {
  const int32_t size = args.cache.head_size;
  const float scale = scale_of(args);
  for (auto at = static_cast<int32_t>(threadIdx.x); at < kAttendQueries * size; at += kAttendThreads) {
    const int32_t query = at / size, d = at % size;
    float value = 0;
    if (query < part.queries) {
      const int64_t head = row_of(part, query) * args.qkv_stride + int64_t{head_of(part, query)} * size;
      value = static_cast<const float*>(args.qkv)[head + d] * scale;
    }
    shared.queries[query][d] = value;
  }
}

// The keys or values of one cache block.
template <int kHead>
__device__ void stage_tile(const PagedCache& cache, const float* from, AttendF32Shared<kHead>& shared) {
  constexpr int32_t kPack = 4;
  const int32_t packs = cache.head_size / kPack;
  for (auto at = static_cast<int32_t>(threadIdx.x); at < kTile * packs; at += kAttendThreads) {
    const Pack<float> pack = reinterpret_cast<const Pack<float>*>(from)[at];
    for (int32_t i = 0; i < kPack; ++i) shared.tile[at / packs][at % packs * kPack + i] = pack.at[i];
  }
}

// Takes the scores of 32 keys, one a lane, into a softmax. Returns the lane's weight.
template <int kHead>
__device__ float take(Running<kHead>& running, float score) {
  const float highest = over_warp(score, [](float a, float b) { return a < b ? b : a; });
  const float before = running.highest;
  running.highest = before < highest ? highest : before;
  const float shrink = expf(before - running.highest), weight = expf(score - running.highest);
  const float weights = over_warp(weight, [](float a, float b) { return a + b; });
  running.total = fmaf(running.total, shrink, weights);
  for (float& sum : running.sums) sum *= shrink;
  return weight;
}

// Adds weight * value to a lane's columns.
template <int kHead>
__device__ void add_value(Running<kHead>& running, float weight, const float* value, int32_t size) {
  SLIPSTREAM_UNROLL
  for (int32_t c = 0; c < kHead / kWarp; ++c) {
    const auto col = static_cast<int32_t>(lane_of_thread()) + c * kWarp;
    if (col < size) running.sums[c] = fmaf(weight, value[col], running.sums[c]);
  }
}

// 32 keys that all queries of the block see.
template <int kHead>
__device__ void add_shared_tile(const AttendArgs& args, const Part& part, int32_t tile, AttendF32Shared<kHead>& shared,
                                Running<kHead> (&running)[kOwn]) {
  const PagedCache& cache = args.cache;
  const float* data = static_cast<const float*>(cache.data);
  const int32_t slot = part.blocks[tile] * kBlockPositions;
  const uint32_t first = warp_of_thread() * kOwn, lane = lane_of_thread();
  stage_tile(cache, data + cache.at(args.layer, slot, part.kv_head, 0), shared);
  __syncthreads();
  float weights[kOwn] = {};
  const bool works = static_cast<int32_t>(first) < part.queries;  // a warp without queries loads tiles for the others
  for (int32_t d = 0; works && d < cache.head_size; ++d) {
    const float key = shared.tile[lane][d];
    SLIPSTREAM_UNROLL
    for (uint32_t i = 0; i < kOwn; ++i) weights[i] = fmaf(shared.queries[first + i][d], key, weights[i]);
  }
  SLIPSTREAM_UNROLL
  for (uint32_t i = 0; i < kOwn; ++i) weights[i] = take(running[i], capped(args, weights[i]));
  __syncthreads();
  stage_tile(cache, data + cache.at(args.layer, slot, part.kv_head, 1), shared);
  __syncthreads();
  for (uint32_t key = 0; works && key < kTile; ++key) {
    SLIPSTREAM_UNROLL
    for (uint32_t i = 0; i < kOwn; ++i) {
      add_value(running[i], __shfl_sync(kAllLanes, weights[i], key), shared.tile[key], cache.head_size);
    }
  }
  __syncthreads();
}

// Up to 32 keys of one query's own path, from wherever they lie. The arithmetic is that of
// add_shared_tile, in the same order.
template <int kHead>
__device__ void add_own_tile(const AttendArgs& args, const Part& part, int32_t tile, const float* query, int32_t row,
                             Running<kHead>& running) {
  const PagedCache& cache = args.cache;
  const float* data = static_cast<const float*>(cache.data);
  const Seen seen = seen_of(args, row, tile);
  const auto lane = static_cast<int32_t>(lane_of_thread());
  if (seen.end <= seen.first) return;
  float score = -INFINITY;
  int32_t slot = 0;
  if (lane >= seen.first && lane < seen.end) {
    slot = slot_of(args, part, row, tile * kTile + lane);
    const float* key = data + cache.at(args.layer, slot, part.kv_head, 0);
    score = 0;
    for (int32_t d = 0; d < cache.head_size; ++d) score = fmaf(query[d], key[d], score);
    score = capped(args, score);
  }
  const float weight = take(running, score);
  for (int32_t key = seen.first; key < seen.end; ++key) {
    const int32_t from = __shfl_sync(kAllLanes, slot, static_cast<uint32_t>(key));
    const float own = __shfl_sync(kAllLanes, weight, static_cast<uint32_t>(key));
    add_value(running, own, data + cache.at(args.layer, from, part.kv_head, 1), cache.head_size);
  }
}

template <int kHead>
__device__ void put_all(const AttendArgs& args, const Part& part, int32_t query, const Running<kHead>& running) {
  if (!sees(args, row_of(part, query), part.item.first_key / kSplitKeys)) return;
  SLIPSTREAM_UNROLL
  for (int32_t c = 0; c < kHead / kWarp; ++c) {
    const auto col = static_cast<int32_t>(lane_of_thread()) + c * kWarp;
    if (col < args.cache.head_size) put<float>(args, part, query, col, running.sums[c], running.highest, running.total);
  }
}

template <int kHead>
__global__ void __launch_bounds__(kAttendThreads) attend_f32_kernel(AttendArgs args) {
  auto& shared = shared_memory<AttendF32Shared<kHead>>();
  if (args.items[blockIdx.x].rows == 0) return;
  const Part part = part_of(args);
  if (part.queries <= 0) return;
  stage_queries(args, part, shared);
  __syncthreads();
  Running<kHead> running[kOwn];
  for (Running<kHead>& each : running) {
    each.highest = -INFINITY, each.total = 0;
    for (float& sum : each.sums) sum = 0;
  }
  const auto first = static_cast<int32_t>(warp_of_thread()) * kOwn;
  for (int32_t tile = part.first / kTile; tile * kTile < part.keys; ++tile) {
    if (is_shared(part, tile)) {
      add_shared_tile(args, part, tile, shared, running);
      continue;
    }
    SLIPSTREAM_UNROLL
    for (int32_t i = 0; i < kOwn; ++i) {
      if (first + i >= part.queries) continue;
      add_own_tile(args, part, tile, shared.queries[first + i], row_of(part, first + i), running[i]);
    }
  }
  SLIPSTREAM_UNROLL
  for (int32_t i = 0; i < kOwn; ++i) {
    if (first + i < part.queries) put_all(args, part, first + i, running[i]);
  }
}

}  // namespace slipstream::cuda
