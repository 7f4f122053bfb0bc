#include "common/kv/block_pool.h"

#include <algorithm>

#include "common/base/check.h"

namespace slipstream {

BlockPool::BlockPool(int32_t blocks) : blocks_(blocks) {
  CHECK(blocks >= 0, "a pool of {} blocks", blocks);
  free_.reserve(static_cast<size_t>(blocks));
  for (int32_t block = blocks - 1; block >= 0; --block) free_.push_back(block);
}

std::optional<int32_t> BlockPool::take() {
  if (free_.empty()) return std::nullopt;
  const int32_t block = free_.back();
  free_.pop_back();
  return block;
}

void BlockPool::give(int32_t block) {
  CHECK(block >= 0 && block < blocks_, "block {} is none of the {}", block, blocks_);
  // Descending order is kept, so that the lowest free id always goes first: equal histories give equal slots.
  const auto at = std::lower_bound(free_.begin(), free_.end(), block, std::greater<>());
  CHECK(at == free_.end() || *at != block, "block {} was free already", block);
  free_.insert(at, block);
}

}  // namespace slipstream
