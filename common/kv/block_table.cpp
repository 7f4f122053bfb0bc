#include "common/kv/block_table.h"

#include <utility>

#include "common/base/check.h"

namespace slipstream {
namespace {

size_t blocks_for(int32_t positions) { return (static_cast<size_t>(positions) + kBlockTokens - 1) / kBlockTokens; }

}  // namespace

BlockTable::~BlockTable() { shrink(0); }

BlockTable::BlockTable(BlockTable&& other) noexcept : pool_(other.pool_), blocks_(std::exchange(other.blocks_, {})) {}

BlockTable& BlockTable::operator=(BlockTable&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(blocks_, other.blocks_);
  return *this;
}

void BlockTable::adopt(std::vector<int32_t> blocks) {
  CHECK(blocks_.empty(), "blocks are adopted behind {} own ones", blocks_.size());
  blocks_ = std::move(blocks);
}

// Holds the new block before it gives the old one, so that replacing a block by itself is harmless.
void BlockTable::replace(size_t at, int32_t block) {
  pool_->hold(block);
  pool_->give(std::exchange(blocks_.at(at), block));
}

// All or nothing: checks before it takes the first block.
bool BlockTable::reserve(int32_t positions) {
  CHECK(positions >= 0, "room for {} positions", positions);
  const size_t wanted = blocks_for(positions);
  if (wanted <= blocks_.size()) return true;
  if (wanted - blocks_.size() > static_cast<size_t>(pool_->free())) return false;
  while (blocks_.size() < wanted) blocks_.push_back(*pool_->take());
  return true;
}

void BlockTable::shrink(int32_t positions) {
  CHECK(positions >= 0, "shrink to {} positions", positions);
  for (const size_t wanted = blocks_for(positions); blocks_.size() > wanted; blocks_.pop_back()) pool_->give(blocks_.back());
}

// The i-th row of a path (from 1) is row i or a later one, because rows ascend along it. So a move
// never goes to a place behind its source, and in this order it overwrites only rows that were
// moved already or are not on the path.
void BlockTable::commit(int32_t committed, std::span<const int32_t> path, std::vector<KvMove>& moves) const {
  int32_t landing = 0;
  int32_t before = 0;
  for (const int32_t row : path) {
    CHECK(row > before, "row {} after row {} on an accepted path", row, before);
    before = row;
    ++landing;
    if (row != landing) moves.push_back({.from = slot(committed + row), .to = slot(committed + landing)});
  }
}

}  // namespace slipstream
