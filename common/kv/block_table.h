// The cache blocks of one sequence: logical position -> slot. Gives its blocks back when it dies.
//
// A tree hangs behind the committed context: row j of a verify pass (0: the root) lies at logical
// position committed + j; commit() says which rows to move so that the accepted path follows the
// context without a gap.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/limits.h"
#include "common/kv/block_pool.h"
#include "common/kv/kv_move.h"

namespace slipstream {

// Cache blocks that a sequence of that many tokens can need: its context and a tree behind it.
constexpr int32_t blocks_of_a_sequence(int32_t tokens) { return (tokens + kTreeNodesMax + kBlockTokens) / kBlockTokens; }

class BlockTable {
 public:
  explicit BlockTable(BlockPool& pool) : pool_(&pool) {}  // the pool outlives the table
  ~BlockTable();
  BlockTable(BlockTable&& other) noexcept;
  BlockTable& operator=(BlockTable&& other) noexcept;

  // Begins with blocks of others, of which it is a holder already; it has none yet.
  void adopt(std::vector<int32_t> blocks);
  // Takes another block with the same content, of which it becomes a holder, in place of its at-th.
  void replace(size_t at, int32_t block);

  bool reserve(int32_t positions);  // room for that many; false: the pool is empty, and nothing was taken
  void shrink(int32_t positions);   // gives back blocks wholly behind that many positions
  int32_t slot(int32_t position) const {
    return blocks_[static_cast<size_t>(position / kBlockTokens)] * kBlockTokens + position % kBlockTokens;
  }
  std::span<const int32_t> blocks() const { return blocks_; }

  // path: rows of the tree (root excluded) that were accepted, root side first; they land at
  // committed + 1, + 2, ...
  void commit(int32_t committed, std::span<const int32_t> path, std::vector<KvMove>& moves) const;

 private:
  BlockPool* pool_;
  std::vector<int32_t> blocks_;
};

}  // namespace slipstream
