// Attention of a step's rows over the paged cache: nodes of draft trees, rows of prompts, single
// tokens.
//
//   out = softmax(scores) v   over the keys of each row's path; scores = q k * scale, then capped
//
// The p-th key of a row stands at position p of its own path: positions [0, visible) of its
// sequence, then visible + j for each set bit j of its ancestors (up to 64). Keys are taken in this
// order, 32 at a time, wherever the tree stored them. kSplitKeys keys of a path are a split, which
// a block of its own computes; a second kernel joins the splits of a row in their order. So a row's
// bits depend on its path and its window only: alone, among others, as a node and as the token that
// it becomes.
//
// The softmax is that of one pass ("online", Milakov and Gimelshein, arXiv 1805.02867); splits are
// joined as in Flash-Decoding (Dao et al., 2023).
#pragma once

#include <cstdint>

#include "kernels/cuda/attend_plan.h"
#include "kernels/cuda/cache.h"
#include "kernels/cuda/stream.h"

namespace slipstream::cuda {

inline constexpr int32_t kHeadSizeMax = 128;

struct AttendArgs {
  const void* qkv = nullptr;             // [rows] of [heads, head_size] queries first, of cache.element
  int64_t qkv_stride = 0;                // elements from row to row
  void* out = nullptr;                   // [rows, heads, head_size] of cache.element
  const int32_t* sequence = nullptr;     // [rows]
  const int32_t* visible = nullptr;      // [rows]
  const uint64_t* ancestors = nullptr;   // [rows]
  const int32_t* block_table = nullptr;  // [sequences, blocks_max] logical block -> physical block
  const AttendItem* items = nullptr;     // [items] of the step's AttendPlan
  const int32_t* first_part = nullptr;   // [rows] likewise
  float* parts = nullptr;                // scratch [AttendPlan::parts, heads, head_size + 2]; none is read that was not written
  PagedCache cache;
  int32_t blocks_max = 0, items_count = 0, layer = 0, rows = 0, heads = 0;
  int32_t window = 0;  // a row sees the last `window` keys of its path, its own included; 0: all
  float scale = 0;     // of scores; 0: 1 / sqrt(head_size)
  float soft_cap = 0;  // scores become soft_cap * tanh(score / soft_cap); 0: they stay
};

// Returns the CUDA runtime's error code; 0: the kernels are on the stream; 1: the head size is over
// kHeadSizeMax or no multiple of 4, or there is no whole number of heads for each key-value head.
int attend(const AttendArgs& args, Stream stream);

}  // namespace slipstream::cuda
