// The names that processes use for each other's things. All are compared for equality only, except
// where "grows" is said.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace slipstream {

using TokenId = int32_t;
using Incarnation = uint64_t;  // random, one per life of a process; 0 is nobody
using Epoch = uint32_t;        // grows each time the router assigns a sequence to a verifier
using Round = uint32_t;        // one verify step of a sequence; grows

// (router incarnation, counter): never reused, never collides between routers.
struct SequenceId {
  Incarnation router = 0;
  uint64_t counter = 0;
  auto operator<=>(const SequenceId&) const = default;
};

}  // namespace slipstream

template <>
struct std::hash<slipstream::SequenceId> {
  size_t operator()(const slipstream::SequenceId& id) const noexcept {
    return std::hash<uint64_t>{}(id.router ^ (id.counter * 0x9E3779B97F4A7C15ull));
  }
};
