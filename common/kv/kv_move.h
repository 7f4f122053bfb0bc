#pragma once

#include <cstdint>

namespace slipstream {

// Copies one cache row (K and V of every layer) to another: how the accepted path of a tree becomes
// committed context.
struct KvMove {
  int32_t from = 0, to = 0;  // slots: block * kBlockTokens + offset
  bool operator==(const KvMove&) const = default;
};

}  // namespace slipstream
