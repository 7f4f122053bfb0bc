// Identifiers that processes exchange: tokens, processes, sequences, epochs and rounds. Epoch and
// Round are ordered in time. All others are compared for equality only.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace slipstream {

using TokenId = int32_t;
using Incarnation = uint64_t;  // random, one per start of a process; 0: no process
using Epoch = uint32_t;        // of a sequence; the router raises it with each assignment to a verifier
using Round = uint32_t;        // of a sequence; the verifier raises it with each verify step
using TenantId = uint64_t;     // whose request it is: a hash of the client's API key; kNoTenant: it gave none

inline constexpr TenantId kNoTenant = 0;

// Names a sequence in all processes. It is unique in the cluster and is never reused: each router
// counts its own sequences, under its own incarnation.
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
