// A copy of one cache row to another.
#pragma once

#include <cstdint>

namespace slipstream {

// Copies K and V of every layer from one slot to another. The accepted path of a draft tree becomes
// context by such moves: its rows are brought together behind the root.
struct KvMove {
  int32_t from = 0, to = 0;  // slots: block * kBlockTokens + offset
  bool operator==(const KvMove&) const = default;
};

}  // namespace slipstream
