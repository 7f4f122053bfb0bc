// The cache blocks of one sequence: maps a logical position to a slot. Its destructor gives the
// blocks back to the pool.
//
// A draft tree hangs behind the committed context: row j of a verify pass lies at logical position
// committed + j, and row 0 is the root. commit() computes the moves after which the accepted path
// follows the context without a gap:
//
//   tree rows   0  1  2  3  4      accepted path 0, 2, 4
//   after       0  2  4            moves: row 2 -> place 1, row 4 -> place 2
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/limits.h"
#include "common/kv/block_pool.h"
#include "common/kv/kv_move.h"

namespace slipstream {

// The most cache blocks that a sequence of that many tokens can need, for its context and a draft
// tree behind it.
constexpr int32_t blocks_of_a_sequence(int32_t tokens) { return (tokens + kTreeNodesMax + kBlockTokens) / kBlockTokens; }

// The slot of a position of the sequence that has these blocks.
constexpr int32_t slot_in(std::span<const int32_t> blocks, int32_t position) {
  return blocks[static_cast<size_t>(position / kBlockTokens)] * kBlockTokens + position % kBlockTokens;
}

class BlockTable {
 public:
  explicit BlockTable(BlockPool& pool) : pool_(&pool) {}  // the pool outlives the table
  ~BlockTable();
  BlockTable(BlockTable&& other) noexcept;
  BlockTable& operator=(BlockTable&& other) noexcept;

  // Begins with these blocks, shared with others. The caller has made the table a holder of each.
  // REQUIRES: the table has no blocks.
  void adopt(std::vector<int32_t> blocks);
  // Replaces its at-th block by another one with the same content: holds that one, gives its own
  // back.
  void replace(size_t at, int32_t block);

  bool reserve(int32_t positions);  // takes blocks for the first `positions`; false: too few are free, none was taken
  void shrink(int32_t positions);   // gives back the blocks wholly behind the first `positions`
  int32_t slot(int32_t position) const { return slot_in(blocks_, position); }
  std::span<const int32_t> blocks() const { return blocks_; }

  // Appends to `moves` those that bring the accepted path to the positions committed + 1, + 2, ...
  // They must be done in this order. path: rows of the tree, ascending, without row 0.
  void commit(int32_t committed, std::span<const int32_t> path, std::vector<KvMove>& moves) const;

 private:
  BlockPool* pool_;
  std::vector<int32_t> blocks_;
};

}  // namespace slipstream
