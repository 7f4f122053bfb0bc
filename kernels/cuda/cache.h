// The paged cache of keys and values on a GPU:
//
//   [layers][blocks][kv_heads][keys, values][32 positions][head_size]
//
// A head's keys of one block are one piece of memory, which a warp reads in whole lines. A slot is
// block * 32 + offset.
#pragma once

#include <cstdint>

#include "kernels/cuda/element.h"

namespace slipstream::cuda {

inline constexpr int32_t kBlockPositions = 32;

struct PagedCache {
  void* data = nullptr;
  int32_t layers = 0, blocks = 0, kv_heads = 0, head_size = 0;
  Element element = Element::bf16;

  constexpr int64_t elements() const { return int64_t{layers} * blocks * kv_heads * 2 * kBlockPositions * head_size; }
  // The first element of a slot's key (part 0) or value (part 1).
  constexpr int64_t at(int32_t layer, int32_t slot, int32_t kv_head, int32_t part) const {
    const int64_t block = int64_t{layer} * blocks + slot / kBlockPositions;
    return (((block * kv_heads + kv_head) * 2 + part) * kBlockPositions + slot % kBlockPositions) * head_size;
  }
};

}  // namespace slipstream::cuda
