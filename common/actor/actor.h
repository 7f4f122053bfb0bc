// The interface of an actor. Each service's logic is one: a deterministic state machine that takes
// events and gives effects. It does no I/O, and has no clock, no thread and no source of
// randomness. A driver feeds it events and performs its effects. The drivers are the ActorLoop of a
// process (runtime/actor_loop.h), the simulator (tests/sim) and the stage tests (tests/stage).
//
// An actor need not be thread-safe: its driver calls it from one thread.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace slipstream {

using Time = std::chrono::microseconds;  // since this process began; it is never sent to another process

// Names the other end of a link. It is no address.
//
//   it connected to us    its incarnation, with the highest bit set: incoming_peer()
//   we connected to it    a small number that the actor chose in its Connect
//   0                     this process itself: an event that its own driver made
struct Peer {
  uint64_t id = 0;
  auto operator<=>(const Peer&) const = default;
};

// Conversion between the incarnation of a process that connected to us and its Peer. Incarnations
// have the highest bit clear (runtime/incarnation.h).
inline constexpr uint64_t kIncomingPeer = 1ull << 63;
inline constexpr Peer incoming_peer(Incarnation incarnation) { return Peer{incarnation | kIncomingPeer}; }
inline constexpr Incarnation incarnation_of(Peer incoming) { return incoming.id & ~kIncomingPeer; }

// Events: what a driver gives to an actor.
template <class M>
struct From {  // a message from a peer, decoded and checked (messages/check.h)
  Peer peer;
  M message;
};
struct PeerUp {  // the link is usable
  Peer peer;
  std::string key = {};  // the name of the peer's key, which it proved to have; empty: we connected, or there are no keys
};
struct PeerDown {  // the link is lost
  Peer peer;
};
struct Malformed {  // a frame that did not decode, or a message that this role does not take; the actor counts strikes
  Peer peer;
  std::string why;
};
struct Woke {};  // the alarm rang; it is also the first event of every actor
template <class J, class R>
struct Ran {  // the job of a Run has ended, well or not; its buffers come back with it
  J job;
  Result<R> result;
};

// Effects: what an actor asks of its driver.
template <class M>
struct To {  // send a message; if the peer's queue is full, the driver drops and counts it
  Peer peer;
  M message;
};
struct Connect {  // open a link, and open it again whenever it is lost, until Disconnect
  Peer peer;
  std::string endpoint;
};
struct Disconnect {  // close the link
  Peer peer;
};
struct WakeAt {  // set the alarm; an actor has one, and a new time replaces the old
  Time at;
};
template <class J>
struct Run {  // run a compute job; the actor has at most one in flight
  J job;
};
struct Note {  // log a sentence that an operator should know
  std::string text;
  bool warning = false;                     // the operator may have to act
  std::optional<SequenceId> sequence = {};  // that the sentence is about; the text does not name it
  bool detail = false;                      // for who follows one request: told at the level debug only
};

template <class A>
concept Actor = requires(A actor, typename A::Event event, Time now, std::vector<typename A::Effect>& effects) {
  { actor.on(std::move(event), now, effects) } -> std::same_as<void>;  // the only input
  { actor.counters() };                                                // a plain struct; the driver publishes copies
};

}  // namespace slipstream

template <>
struct std::hash<slipstream::Peer> {
  size_t operator()(const slipstream::Peer& peer) const noexcept { return std::hash<uint64_t>{}(peer.id); }
};
