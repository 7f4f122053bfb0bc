// Which tokens of a vocabulary are allowed: a bit for each.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/base/ids.h"

namespace slipstream {

class TokenMask {
 public:
  explicit TokenMask(int32_t vocabulary) : words_((static_cast<size_t>(vocabulary) + 31) / 32, 0) {}  // allows none

  bool allows(TokenId token) const {
    const auto at = static_cast<size_t>(token);
    return token >= 0 && at / 32 < words_.size() && (words_[at / 32] >> (at % 32) & 1) != 0;
  }
  void allow(TokenId token) { words_[static_cast<size_t>(token) / 32] |= uint32_t{1} << (token % 32); }  // REQUIRES: in range
  int count() const {
    int count = 0;
    for (const uint32_t word : words_) count += std::popcount(word);
    return count;
  }
  std::vector<TokenId> tokens() const {  // ascending
    std::vector<TokenId> tokens;
    for (size_t at = 0; at < words_.size(); ++at) {
      for (uint32_t left = words_[at]; left != 0; left &= left - 1) {
        tokens.push_back(static_cast<TokenId>(at * 32) + std::countr_zero(left));
      }
    }
    return tokens;
  }
  // [ceil(vocabulary / 32)] token v is bit v % 32 of word v / 32.
  std::span<uint32_t> words() { return words_; }
  std::span<const uint32_t> words() const { return words_; }

 private:
  std::vector<uint32_t> words_;
};

}  // namespace slipstream
