#include "kernels/cuda/attend.h"

#include "kernels/cuda/block.cuh"
#include "kernels/cuda/numbers.cuh"

namespace slipstream::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kWarp;
constexpr int kOwn = kAttendQueries / kWarps;  // queries of a warp
constexpr int kTile = kBlockPositions;         // keys at a time, one for each lane
static_assert(kTile == kWarp && kSplitKeys % kTile == 0);

template <class T, int kHead>
struct AttendShared {
  float queries[kAttendQueries][kHead];
  T tile[kTile][kHead + 4 / sizeof(T)];  // keys, then values; the padding gives each lane a bank of its own
};

// A query's softmax so far: the highest score, and the sums of e^(score - highest) and of that
// times the values. A lane has the columns lane + 32 c.
template <int kHead>
struct Running {
  float highest, total, sums[kHead / kWarp];
};

// What a block computes.
struct Part {
  AttendItem item;
  int32_t kv_head, group, first_query, queries;
  int32_t first_shared, shared_keys;  // the keys [first_shared, shared_keys) are seen by all rows, at the same positions
  int32_t first, keys;                // the first key that any row sees; the length of the longest path
  const int32_t* blocks;
};

__device__ int32_t keys_of(const AttendArgs& args, int32_t row) { return args.visible[row] + __popcll(args.ancestors[row]); }

// The first key of a row's path that its window has.
__device__ int32_t first_key_of(const AttendArgs& args, int32_t row) {
  return args.window == 0 ? 0 : max(0, keys_of(args, row) - args.window);
}

// The position of the key-th key on a row's path.
__device__ int32_t position_of(const AttendArgs& args, int32_t row, int32_t key) {
  const int32_t visible = args.visible[row];
  if (key < visible) return key;
  uint64_t bits = args.ancestors[row];
  for (int32_t skip = key - visible; skip > 0; --skip) bits &= bits - 1;
  return visible + __ffsll(static_cast<long long>(bits)) - 1;
}

__device__ Part part_of(const AttendArgs& args) {
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

__device__ int32_t row_of(const Part& part, int32_t query) {
  return part.item.first_row + (part.first_query + query) / part.group;
}
__device__ int32_t head_of(const Part& part, int32_t query) {
  return part.kv_head * part.group + (part.first_query + query) % part.group;
}

// The queries, scaled; zeros where a block has fewer.
template <class T, int kHead>
__device__ void stage_queries(const AttendArgs& args, const Part& part, AttendShared<T, kHead>& shared) {
  const int32_t size = args.cache.head_size;
  const float scale = 1.0F / sqrtf(static_cast<float>(size));
  for (auto at = static_cast<int32_t>(threadIdx.x); at < kAttendQueries * size; at += kThreads) {
    const int32_t query = at / size, d = at % size;
    float value = 0;
    if (query < part.queries) {
      const int64_t head = row_of(part, query) * args.qkv_stride + int64_t{head_of(part, query)} * size;
      value = load(static_cast<const T*>(args.qkv) + head + d) * scale;
    }
    shared.queries[query][d] = value;
  }
}

// The keys (part 0) or values (part 1) of one cache block, kBytes at a time.
template <int kBytes, class T, int kHead>
__device__ void stage_tile_by(const PagedCache& cache, const T* from, AttendShared<T, kHead>& shared) {
  constexpr auto kPack = static_cast<int32_t>(kBytes / sizeof(T));
  const int32_t packs = cache.head_size / kPack;
  for (auto at = static_cast<int32_t>(threadIdx.x); at < kTile * packs; at += kThreads) {
    const auto pack = reinterpret_cast<const Pack<T, kBytes>*>(from)[at];
    for (int32_t i = 0; i < kPack; ++i) shared.tile[at / packs][at % packs * kPack + i] = pack.at[i];
  }
}

template <class T, int kHead>
__device__ void stage_tile(const PagedCache& cache, const T* from, AttendShared<T, kHead>& shared) {
  if (cache.head_size % 8 == 0) {
    stage_tile_by<16>(cache, from, shared);
  } else {
    stage_tile_by<8>(cache, from, shared);
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
template <class T, int kHead>
__device__ void add_value(Running<kHead>& running, float weight, const T* value, int32_t size) {
  SLIPSTREAM_UNROLL
  for (int32_t c = 0; c < kHead / kWarp; ++c) {
    const auto col = static_cast<int32_t>(lane_of_thread()) + c * kWarp;
    if (col < size) running.sums[c] = fmaf(weight, load(value + col), running.sums[c]);
  }
}

// 32 keys that all queries of the block see: they go through shared memory.
template <class T, int kHead>
__device__ void add_shared_tile(const AttendArgs& args, const Part& part, int32_t tile, AttendShared<T, kHead>& shared,
                                Running<kHead> (&running)[kOwn]) {
  const PagedCache& cache = args.cache;
  const T* data = static_cast<const T*>(cache.data);
  const int32_t slot = part.blocks[tile] * kBlockPositions;
  const uint32_t first = warp_of_thread() * kOwn, lane = lane_of_thread();
  stage_tile(cache, data + cache.at(args.layer, slot, part.kv_head, 0), shared);
  __syncthreads();
  float weights[kOwn] = {};
  const bool works = static_cast<int32_t>(first) < part.queries;  // a warp without queries loads tiles for the others
  for (int32_t d = 0; works && d < cache.head_size; ++d) {
    const float key = load(&shared.tile[lane][d]);
    SLIPSTREAM_UNROLL
    for (uint32_t i = 0; i < kOwn; ++i) weights[i] = fmaf(shared.queries[first + i][d], key, weights[i]);
  }
  SLIPSTREAM_UNROLL
  for (uint32_t i = 0; i < kOwn; ++i) weights[i] = take(running[i], weights[i]);
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
template <class T, int kHead>
__device__ void add_own_tile(const AttendArgs& args, const Part& part, int32_t tile, const float* query, int32_t row,
                             Running<kHead>& running) {
  const PagedCache& cache = args.cache;
  const T* data = static_cast<const T*>(cache.data);
  const int32_t count = min(kTile, keys_of(args, row) - tile * kTile), lane = static_cast<int32_t>(lane_of_thread());
  const int32_t first = max(0, first_key_of(args, row) - tile * kTile);  // of the tile
  if (count <= first) return;
  float score = -INFINITY;
  int32_t slot = 0;
  if (lane >= first && lane < count) {
    const int32_t position = position_of(args, row, tile * kTile + lane);
    slot = part.blocks[position / kBlockPositions] * kBlockPositions + position % kBlockPositions;
    const T* key = data + cache.at(args.layer, slot, part.kv_head, 0);
    score = 0;
    for (int32_t d = 0; d < cache.head_size; ++d) score = fmaf(query[d], load(key + d), score);
  }
  const float weight = take(running, score);
  for (int32_t key = first; key < count; ++key) {
    const int32_t from = __shfl_sync(kAllLanes, slot, static_cast<uint32_t>(key));
    const float own = __shfl_sync(kAllLanes, weight, static_cast<uint32_t>(key));
    add_value(running, own, data + cache.at(args.layer, from, part.kv_head, 1), cache.head_size);
  }
}

// Whether a row sees any key of a split.
__device__ bool sees(const AttendArgs& args, int32_t row, int32_t split) {
  return split * kSplitKeys < keys_of(args, row) && (split + 1) * kSplitKeys > first_key_of(args, row);
}

// The place of a partial result: head_size sums, then the highest score, then the total.
__device__ float* part_at(const AttendArgs& args, int32_t row, int32_t split, int32_t head) {
  return args.parts + (int64_t{args.first_part[row] + split} * args.heads + head) * (args.cache.head_size + 2);
}

// The result of a query whose path is one split goes out, others to the partial results.
template <class T, int kHead>
__device__ void put(const AttendArgs& args, const Part& part, int32_t query, const Running<kHead>& running) {
  const int32_t row = row_of(part, query), head = head_of(part, query), size = args.cache.head_size;
  const int32_t keys = keys_of(args, row), lane = static_cast<int32_t>(lane_of_thread());
  if (!sees(args, row, part.item.first_key / kSplitKeys)) return;
  T* out = static_cast<T*>(args.out) + (int64_t{row} * args.heads + head) * size;
  float* partial = part_at(args, row, part.item.first_key / kSplitKeys, head);
  SLIPSTREAM_UNROLL
  for (int32_t c = 0; c < kHead / kWarp; ++c) {
    const int32_t col = lane + c * kWarp;
    if (col >= size) continue;
    if (keys <= kSplitKeys) {
      store(out + col, running.sums[c] / running.total);
    } else {
      partial[col] = running.sums[c];
    }
  }
  if (keys > kSplitKeys && lane == 0) {
    partial[size] = running.highest;
    partial[size + 1] = running.total;
  }
}

// A block has an item, a key-value head, and up to kAttendQueries of their queries.
template <class T, int kHead>
__global__ void __launch_bounds__(kThreads) attend_kernel(AttendArgs args) {
  auto& shared = shared_memory<AttendShared<T, kHead>>();
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
    if (tile * kTile >= part.first_shared && (tile + 1) * kTile <= part.shared_keys) {
      add_shared_tile(args, part, tile, shared, running);
      continue;
    }
    SLIPSTREAM_UNROLL
    for (int32_t i = 0; i < kOwn; ++i) {
      if (first + i >= part.queries) continue;
      add_own_tile<T>(args, part, tile, shared.queries[first + i], row_of(part, first + i), running[i]);
    }
  }
  SLIPSTREAM_UNROLL
  for (int32_t i = 0; i < kOwn; ++i) {
    if (first + i < part.queries) put<T>(args, part, first + i, running[i]);
  }
}

// Joins the splits of one row and head that it sees, in their order.
template <class T>
__global__ void __launch_bounds__(kThreads) join_splits_kernel(AttendArgs args) {
  const auto row = static_cast<int32_t>(blockIdx.x), head = static_cast<int32_t>(blockIdx.y);
  const int32_t keys = keys_of(args, row), size = args.cache.head_size, col = static_cast<int32_t>(threadIdx.x);
  if (keys <= kSplitKeys || col >= size) return;
  const int32_t splits = (keys + kSplitKeys - 1) / kSplitKeys, first = first_key_of(args, row) / kSplitKeys;
  float highest = -INFINITY;
  for (int32_t split = first; split < splits; ++split) {
    const float own = part_at(args, row, split, head)[size];
    highest = highest < own ? own : highest;
  }
  float sum = 0, total = 0;
  for (int32_t split = first; split < splits; ++split) {
    const float* part = part_at(args, row, split, head);
    const float weight = expf(part[size] - highest);
    sum = fmaf(part[col], weight, sum);
    total = fmaf(part[size + 1], weight, total);
  }
  store(static_cast<T*>(args.out) + (int64_t{row} * args.heads + head) * size + col, sum / total);
}

template <class T>
int attend_as(const AttendArgs& args, Stream stream) {
  const int32_t kv_heads = args.cache.kv_heads, group = args.heads / kv_heads;
  const dim3 grid(static_cast<unsigned>(args.items_count), static_cast<unsigned>(kv_heads),
                  static_cast<unsigned>((group + kAttendQueries - 1) / kAttendQueries));
  const auto kernel = args.cache.head_size <= 64 ? attend_kernel<T, 64> : attend_kernel<T, kHeadSizeMax>;
  const int error = launch(kernel, grid, dim3(kThreads), stream, args);
  if (error != 0) return error;
  return launch(join_splits_kernel<T>, dim3(static_cast<unsigned>(args.rows), static_cast<unsigned>(args.heads)),
                dim3(kHeadSizeMax), stream, args);
}

}  // namespace

int attend(const AttendArgs& args, Stream stream) {
  constexpr int kInvalidValue = 1;  // cudaErrorInvalidValue
  const int32_t size = args.cache.head_size;
  if (size <= 0 || size > kHeadSizeMax || size % 4 != 0 || args.heads % args.cache.kv_heads != 0) return kInvalidValue;
  return with_element(args.cache.element, [&](auto element) { return attend_as<decltype(element)>(args, stream); });
}

}  // namespace slipstream::cuda
