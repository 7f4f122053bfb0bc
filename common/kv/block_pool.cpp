#include "common/kv/block_pool.h"

#include <algorithm>

#include "common/base/check.h"

namespace slipstream {

BlockPool::BlockPool(int32_t blocks) {
  CHECK(blocks >= 0, "a pool of {} blocks", blocks);
  holders_.resize(static_cast<size_t>(blocks));
  free_.reserve(static_cast<size_t>(blocks));
  for (int32_t block = blocks - 1; block >= 0; --block) free_.push_back(block);
}

std::optional<int32_t> BlockPool::take() {
  if (free_.empty()) return std::nullopt;
  const int32_t block = free_.back();
  free_.pop_back();
  holders_[static_cast<size_t>(block)] = 1;
  return block;
}

void BlockPool::hold(int32_t block) {
  CHECK(block >= 0 && block < blocks(), "block {} is none of the {}", block, blocks());
  CHECK(holders(block) > 0, "block {} is free", block);
  ++holders_[static_cast<size_t>(block)];
}

void BlockPool::give(int32_t block) {
  CHECK(block >= 0 && block < blocks(), "block {} is none of the {}", block, blocks());
  CHECK(holders(block) > 0, "block {} was free already", block);
  if (--holders_[static_cast<size_t>(block)] > 0) return;
  // free_ stays in descending order, so that the lowest free id is always taken first. Equal
  // histories then give equal slots, and runs can be repeated.
  free_.insert(std::lower_bound(free_.begin(), free_.end(), block, std::greater<>()), block);
}

}  // namespace slipstream
