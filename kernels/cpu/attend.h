// Attention of one row's heads over one key-value head. Private to the kernels' .cpp files (lanes.h).
//
// Three passes: scores of whole cache blocks, a lane each position, so that a score never depends on where its key lies;
// softmax, whose sum runs by the key's index on the row's path; values in order of that index.
#pragma once

#include "kernels/cpu/lanes.h"

namespace slipstream {
namespace {

constexpr int32_t kHeadTile = 4;   // heads at once
constexpr int32_t kValueTile = 4;  // vectors of a value row at once

// scores[h][0..31] = q_h k / sqrt(head_size) of one block's positions
template <int kHeads>
void score_block(const AttendArgs& args, const float* keys, int32_t head, float* scores) {
  const float scale = 1.0F / __builtin_sqrtf(static_cast<float>(args.head_size));
  const float* query = args.query + int64_t{head} * args.head_size;
  Lanes low[kHeads] = {}, high[kHeads] = {};
  for (int32_t d = 0; d < args.head_size; ++d) {
    const Lanes key_low = load(keys + int64_t{d} * kCacheRows), key_high = load(keys + int64_t{d} * kCacheRows + kLanes);
    for (int h = 0; h < kHeads; ++h) {
      const Lanes q = all(query[int64_t{h} * args.head_size + d]);
      low[h] = multiply_add(q, key_low, low[h]);
      high[h] = multiply_add(q, key_high, high[h]);
    }
  }
  for (int h = 0; h < kHeads; ++h) {
    store(scores + (head + h) * args.scores_stride, low[h] * scale);
    store(scores + (head + h) * args.scores_stride + kLanes, high[h] * scale);
  }
}

// acc[h][c] += weight[h] * value: one key
template <int kHeads, int kVectors>
SLIPSTREAM_INLINE void add_value(Lanes (&acc)[kHeads][kVectors], const float* value, const float* weights, int64_t stride) {
  Lanes parts[kVectors];
  for (int c = 0; c < kVectors; ++c) parts[c] = load(value + c * kLanes);
  for (int h = 0; h < kHeads; ++h) {
    const Lanes weight = all(weights[h * stride]);
    for (int c = 0; c < kVectors; ++c) acc[h][c] = multiply_add(weight, parts[c], acc[h][c]);
  }
}

SLIPSTREAM_INLINE const float* value_row(const AttendArgs& args, int32_t position) {
  return args.cache + args.blocks[position / kCacheRows] * args.block_stride + int64_t{args.head_size} * kCacheRows +
         position % kCacheRows * args.value_stride;
}

// out[h][from .. from + 16 kVectors) = sum over keys of weight * value / total
template <int kHeads, int kVectors>
void sum_values(const AttendArgs& args, int32_t head, int32_t from, const float* totals) {
  Lanes acc[kHeads][kVectors] = {};
  const float* weights = args.scores + head * args.scores_stride;
  for (int32_t start = 0; start < args.visible; start += kCacheRows) {
    const int32_t count = args.visible - start < kCacheRows ? args.visible - start : kCacheRows;
    const float* values = value_row(args, start) + from;
    for (int32_t i = 0; i < count; ++i) {
      add_value<kHeads, kVectors>(acc, values + i * args.value_stride, weights + start + i, args.scores_stride);
    }
  }
  int32_t key = args.visible;
  for (uint64_t bits = args.ancestors; bits != 0; bits &= bits - 1, ++key) {
    const float* value = value_row(args, args.visible + __builtin_ctzll(bits)) + from;
    add_value<kHeads, kVectors>(acc, value, weights + key, args.scores_stride);
  }
  for (int h = 0; h < kHeads; ++h) {
    for (int c = 0; c < kVectors; ++c) {
      const int32_t at = from + c * kLanes, left = args.head_size - at;
      if (left <= 0) break;
      float* out = args.out + int64_t{head + h} * args.head_size + at;
      store_part(out, acc[h][c] / totals[h], left < kLanes ? left : kLanes);
    }
  }
}

// Moves the scores of a tree row's ancestors behind the context's, in path order. Returns the number of keys.
SLIPSTREAM_INLINE int32_t gather_path(const AttendArgs& args, float* scores) {
  int32_t key = args.visible;
  for (uint64_t bits = args.ancestors; bits != 0; bits &= bits - 1)
    scores[key++] = scores[args.visible + __builtin_ctzll(bits)];
  return key;
}

// scores become e^(score - highest), zero behind the last key up to a whole vector; returns their sum.
SLIPSTREAM_INLINE float exponentials(float* scores, int32_t keys) {
  const int32_t whole = keys / kLanes * kLanes, rest = keys - whole;
  for (int32_t i = rest; i != 0 && i < kLanes; ++i) scores[whole + i] = scores[keys - 1];
  const int32_t end = rest != 0 ? whole + kLanes : whole;
  Lanes most = load(scores);
  for (int32_t at = kLanes; at < end; at += kLanes) most = greater(most, load(scores + at));
  const Lanes top = all(highest(most));
  Lanes total = {};
  for (int32_t at = 0; at < whole; at += kLanes) {
    const Lanes weight = exp_of(load(scores + at) - top);
    store(scores + at, weight);
    total += weight;
  }
  if (rest != 0) {
    Lanes weight = exp_of(load(scores + whole) - top);
    for (int32_t i = rest; i < kLanes; ++i) weight[i] = 0.0F;
    store(scores + whole, weight);
    total += weight;
  }
  return sum(total);
}

template <int kHeads>
void attend_heads(const AttendArgs& args, int32_t head) {
  const int32_t seen = args.visible + (args.ancestors != 0 ? 64 - __builtin_clzll(args.ancestors) : 0);
  for (int32_t start = 0; start < seen; start += kCacheRows) {
    const float* keys = args.cache + args.blocks[start / kCacheRows] * args.block_stride;
    score_block<kHeads>(args, keys, head, args.scores + start);
  }
  float totals[kHeads];
  for (int h = 0; h < kHeads; ++h) {
    float* scores = args.scores + (head + h) * args.scores_stride;
    totals[h] = exponentials(scores, gather_path(args, scores));
  }
  int32_t from = 0;
  for (; from + (kValueTile - 1) * kLanes < args.head_size; from += kValueTile * kLanes) {
    sum_values<kHeads, kValueTile>(args, head, from, totals);
  }
  for (; from < args.head_size; from += kLanes) sum_values<kHeads, 1>(args, head, from, totals);
}

[[maybe_unused]] void attend(const AttendArgs& args) {
  int32_t head = 0;
  for (; head + kHeadTile <= args.heads; head += kHeadTile) attend_heads<kHeadTile>(args, head);
  switch (args.heads - head) {
    case 3:
      return attend_heads<3>(args, head);
    case 2:
      return attend_heads<2>(args, head);
    case 1:
      return attend_heads<1>(args, head);
    default:
      return;
  }
}

}  // namespace
}  // namespace slipstream
