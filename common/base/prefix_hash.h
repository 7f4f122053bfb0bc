// FNV-1a, 64 bit, and the running hash of a token prefix: FNV-1a over each id's four bytes, lowest
// first (docs/design/WIRE.md). It fences messages against mistakes and reordering; it is no defence
// against somebody who searches for collisions.
#pragma once

#include <cstdint>
#include <span>

#include "common/base/ids.h"

namespace slipstream {

// The hash of nothing, and the hash of what `hash` covers with one more byte.
inline constexpr uint64_t kFnv1aOfNothing = 0xCBF29CE484222325ull;
constexpr uint64_t fnv1a(uint64_t hash, uint8_t byte) { return (hash ^ byte) * 0x100000001B3ull; }

class PrefixHash {
 public:
  PrefixHash() = default;
  explicit PrefixHash(uint64_t value) : value_(value) {}  // goes on from the hash of a prefix: the value is the whole state
  void add(TokenId token) {
    auto word = static_cast<uint32_t>(token);
    for (int byte = 0; byte < 4; ++byte, word >>= 8) value_ = fnv1a(value_, word & 0xFF);
  }
  void add(std::span<const TokenId> tokens) {
    for (TokenId token : tokens) add(token);
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = kFnv1aOfNothing;
};

}  // namespace slipstream
