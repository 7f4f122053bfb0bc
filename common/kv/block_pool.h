// Who holds which cache block. Ids only, never memory. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace slipstream {

inline constexpr int kBlockTokens = 32;  // cache rows a block; a border of the attention's summation too

class BlockPool {
 public:
  explicit BlockPool(int32_t blocks);
  std::optional<int32_t> take();  // its one holder is whoever took it; nullopt: none is free
  void hold(int32_t block);       // one holder more, of a block that has one
  void give(int32_t block);       // one holder less; free when that was the last
  int32_t holders(int32_t block) const { return holders_.at(static_cast<size_t>(block)); }
  int32_t free() const { return static_cast<int32_t>(free_.size()); }
  int32_t blocks() const { return static_cast<int32_t>(holders_.size()); }

 private:
  std::vector<int32_t> holders_;  // [blocks]
  std::vector<int32_t> free_;     // lowest id last, so that it goes first
};

}  // namespace slipstream
