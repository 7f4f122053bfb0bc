// Allocates cache blocks and counts the holders of each: sequences, and the prefix cache. It knows
// ids only; the model owns the memory. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace slipstream {

inline constexpr int kBlockTokens = 32;  // cache rows of a block; the attention kernels sum by blocks of this size

class BlockPool {
 public:
  explicit BlockPool(int32_t blocks);
  std::optional<int32_t> take();  // a free block, which has one holder then; nullopt: none is free
  void hold(int32_t block);       // adds a holder. REQUIRES: the block has one
  void give(int32_t block);       // removes a holder; the last one frees the block. REQUIRES: it has one
  int32_t holders(int32_t block) const { return holders_.at(static_cast<size_t>(block)); }
  int32_t free() const { return static_cast<int32_t>(free_.size()); }
  int32_t blocks() const { return static_cast<int32_t>(holders_.size()); }

 private:
  std::vector<int32_t> holders_;  // [blocks]
  std::vector<int32_t> free_;     // descending: the lowest id is taken first
};

}  // namespace slipstream
