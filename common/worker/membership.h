// A worker's links to its routers. On each link the worker says Hello until it is welcome, and then
// sends heartbeats. Pure.
//
// Routers are peers 1, 2, ... in the order given. A router that restarts or refuses the worker is
// asked again.
//
// A worker keeps one link to each incarnation of a router. When a second link presents an
// incarnation that another link already has, the worker closes the second one, and tries it again
// once the first is down or silent: two addresses may lead to one router, and copies of one router
// would give their sequences the same names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/actor/actor.h"
#include "common/actor/backoff.h"
#include "common/messages/control.h"
#include "common/worker/effects.h"

namespace slipstream {

inline constexpr Time kHelloInterval = std::chrono::milliseconds(500);  // of an unanswered Hello; it doubles, up to
inline constexpr Time kHelloIntervalMost = std::chrono::seconds(4);
inline constexpr Time kLeavingInterval = std::chrono::milliseconds(400);  // of Leaving, which has no answer; likewise
inline constexpr Time kLeavingIntervalMost = std::chrono::milliseconds(3200);
inline constexpr Time kRouterSilent = std::chrono::seconds(2);  // unheard for so long, a link gives way to a duplicate

class Membership {
 public:
  // self: what Hello says. routers: endpoints.
  Membership(Hello self, const std::vector<std::string>& routers);

  bool owns(Peer peer) const { return peer.id >= 1 && peer.id <= links_.size(); }
  bool welcome() const;                                // by at least one router
  uint64_t refusals() const { return refusals_; }      // Refuse messages
  uint64_t duplicates() const { return duplicates_; }  // links closed because another one has the same router

  // Opens all links. Call it once, at the actor's first event.
  void connect(WorkerEffects effects) const;

  // What happens on a link. Each call does nothing if the peer is no router of this worker.
  void up(Peer peer, Time now);
  void down(Peer peer, WorkerEffects effects);
  void welcomed(const From<Welcome>& from, Time now, WorkerEffects effects);
  void refused(const From<Refuse>& from, WorkerEffects effects);  // the log has the reason once, not at each repeated Hello
  void heard(const From<RouterHeartbeat>& from, Time now);

  // Sends what is due at `now`: Hello where the worker is not welcome, a heartbeat where it is, and
  // Leaving again if it leaves.
  void send_due(Time now, const WorkerHeartbeat& load, WorkerEffects effects);
  // When send_due() has something to do next; nullopt: not before something happens on a link.
  std::optional<Time> next() const;

  // Says Leaving on every link that is up, again with later heartbeats, and at once to each router
  // that welcomes it later.
  void leave(std::string reason, WorkerEffects effects);

 private:
  struct Link {
    Peer peer;
    std::string endpoint;
    bool up = false;
    bool welcome = false;
    std::string refusal;     // the last reason, if refused
    bool closed = false;     // as a duplicate of another link
    bool told = false;       // the log has said so
    Incarnation router = 0;  // of the last Welcome
    Time heard{};            // when the last Welcome or heartbeat came
    Time heartbeat{};        // interval
    Time next{};             // the next Hello or heartbeat; of a closed link: when to look whether it may be opened again
    Backoff hellos{kHelloInterval, kHelloIntervalMost};
    Time leaving_at{};  // the earliest time of the next Leaving
    Backoff leavings{kLeavingInterval, kLeavingIntervalMost};
  };

  Link* find(Peer peer) { return owns(peer) ? &links_[peer.id - 1] : nullptr; }
  const Link* other_with_router(const Link& link) const;  // null: no other welcome link has its router
  void say_leaving(const Link& link, WorkerEffects effects) const;
  void close(Link& link, const Link& kept, Time now, WorkerEffects effects);
  void try_again(Link& link, Time now, WorkerEffects effects);

  Hello self_;
  std::vector<Link> links_;
  std::optional<std::string> leaving_;  // the reason
  uint64_t refusals_ = 0, duplicates_ = 0;
};

}  // namespace slipstream
