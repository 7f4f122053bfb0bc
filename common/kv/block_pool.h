// Which cache blocks are free. Ids only, never memory. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace slipstream {

inline constexpr int kBlockTokens = 32;  // cache rows a block; a border of the attention's summation too

class BlockPool {
 public:
  explicit BlockPool(int32_t blocks);
  std::optional<int32_t> take();  // nullopt: none free
  void give(int32_t block);
  int32_t free() const { return static_cast<int32_t>(free_.size()); }
  int32_t blocks() const { return blocks_; }

 private:
  int32_t blocks_;
  std::vector<int32_t> free_;  // lowest id last, so that it goes first
};

}  // namespace slipstream
