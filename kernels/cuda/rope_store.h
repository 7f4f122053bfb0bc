// Rotary position embedding of queries and keys, and the way of keys and values into the cache.
#pragma once

#include <cstdint>

#include "kernels/cuda/cache.h"
#include "kernels/cuda/stream.h"

namespace slipstream::cuda {

// Each row of qkv is [heads + 2 kv_heads, head_size]: queries, keys, values. The pair (element i,
// element i + head_size / 2) of a head is rotated by the angle i of the row's position. Queries
// stay in qkv. Keys and values go to the row's slot of `layer`, and qkv's own keys are left as they
// were.
struct RopeStoreArgs {
  void* qkv = nullptr;                // [rows, heads + 2 kv_heads, head_size] of cache.element
  const float* cosine = nullptr;      // [positions, head_size / 2]
  const float* sine = nullptr;        // likewise
  const int32_t* position = nullptr;  // [rows]
  const int32_t* slot = nullptr;      // [rows], all different
  PagedCache cache;
  int32_t layer = 0, rows = 0, heads = 0;
};

// Returns the CUDA runtime's error code; 0: the kernel is on the stream. Row-invariant.
int rope_store(const RopeStoreArgs& args, Stream stream);

}  // namespace slipstream::cuda
