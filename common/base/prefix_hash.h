// The hash of a token prefix: 64-bit FNV-1a over the four bytes of each token id, lowest byte first
// (docs/design/WIRE.md, section 2 has test values).
//
// Messages carry it so that the receiver notices lost, reordered or mistaken tokens. It does not
// protect against a peer that searches for collisions.
#pragma once

#include <cstdint>
#include <span>

#include "common/base/ids.h"

namespace slipstream {

// FNV-1a: its value before the first byte, and the step that adds one byte to `hash`.
inline constexpr uint64_t kFnv1aOfNothing = 0xCBF29CE484222325ull;
constexpr uint64_t fnv1a(uint64_t hash, uint8_t byte) { return (hash ^ byte) * 0x100000001B3ull; }

class PrefixHash {
 public:
  PrefixHash() = default;
  // Continues from the hash of a shorter prefix. The value is the whole state.
  explicit PrefixHash(uint64_t value) : value_(value) {}
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
