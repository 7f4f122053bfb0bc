// A running hash of a token prefix: FNV-1a, 64 bit, over each id's four bytes, lowest first (docs/WIRE.md). It fences
// messages against mistakes and reordering; it is no defence against somebody who searches for collisions.
#pragma once

#include <cstdint>
#include <span>

#include "common/base/ids.h"

namespace slipstream {

class PrefixHash {
 public:
  PrefixHash() = default;
  explicit PrefixHash(uint64_t value) : value_(value) {}  // goes on from the hash of a prefix: the value is the whole state
  void add(TokenId token) {
    auto word = static_cast<uint32_t>(token);
    for (int byte = 0; byte < 4; ++byte, word >>= 8) value_ = (value_ ^ (word & 0xFF)) * 0x100000001B3ull;
  }
  void add(std::span<const TokenId> tokens) {
    for (TokenId token : tokens) add(token);
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xCBF29CE484222325ull;
};

}  // namespace slipstream
