// One actor, two worlds: each service's logic is a deterministic state machine. Events come in,
// effects go out; no I/O, clock, thread or random device inside. The runtime and the simulator
// drive the very same code.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace slipstream {

using Time = std::chrono::microseconds;  // since this process began; never on the wire

// One connection as its owner names it, not an address. Peers that connected to us carry their
// incarnation (highest bit set); peers we connect to carry a small number that the actor chose in
// Connect.
struct Peer {
  uint64_t id = 0;
  auto operator<=>(const Peer&) const = default;
};

// The peer that connected to us in this life of its process, and back. Incarnations have the
// highest bit clear (runtime/incarnation.h).
inline constexpr uint64_t kIncomingPeer = 1ull << 63;
inline constexpr Peer incoming_peer(Incarnation incarnation) { return Peer{incarnation | kIncomingPeer}; }
inline constexpr Incarnation incarnation_of(Peer incoming) { return incoming.id & ~kIncomingPeer; }

// Events.
template <class M>
struct From {  // decoded and bounded
  Peer peer;
  M message;
};
struct PeerUp {
  Peer peer;
  std::string key = {};  // the name of the key that it proved to have; empty: we connected, or run without keys
};
struct PeerDown {
  Peer peer;
};
struct Malformed {  // a frame that did not decode; the actor counts strikes
  Peer peer;
  std::string why;
};
struct Woke {};  // the alarm; also the very first event of a life
template <class J, class R>
struct Ran {  // once a Run; hands the job's buffers back
  J job;
  Result<R> result;
};

// Effects.
template <class M>
struct To {  // a full queue drops and counts, in the driver
  Peer peer;
  M message;
};
struct Connect {  // open a link; the driver reconnects it until Disconnect
  Peer peer;
  std::string endpoint;
};
struct Disconnect {
  Peer peer;
};
struct WakeAt {  // one alarm an actor; a new one replaces the old
  Time at;
};
template <class J>
struct Run {  // at most one in flight
  J job;
};
struct Note {  // for the log: what an operator should know, as a sentence
  std::string text;
  bool warning = false;  // something is not as it should be
};

template <class A>
concept Actor = requires(A actor, typename A::Event event, Time now, std::vector<typename A::Effect>& effects) {
  { actor.on(std::move(event), now, effects) } -> std::same_as<void>;  // no other input exists
  { actor.counters() };                                                // facts, published by the driver
};

}  // namespace slipstream

template <>
struct std::hash<slipstream::Peer> {
  size_t operator()(const slipstream::Peer& peer) const noexcept { return std::hash<uint64_t>{}(peer.id); }
};
