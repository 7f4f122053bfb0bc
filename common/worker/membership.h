// A worker's links to its routers. Pure.
//
// On each link that is up, the worker does the following.
//   1. It sends Hello, with back-off, until the router answers Welcome. It does the same after a
//      Refuse and after the link was lost, because the router may have restarted.
//   2. While it is welcome, it sends a WorkerHeartbeat at the interval that the Welcome asked for.
//   3. Once leave() was called, it also sends Leaving, with back-off, until the process ends.
//
// The links are of two kinds. Those that the constructor names stay for ever. Those that named()
// adds are of a name in DNS whose addresses change (common/service/router_names.h): a link whose
// address the name no longer has is forgotten as soon as it is down. Until then it stays, because a
// router that is told to stop leaves the name before it has finished its answers.
//
// A worker keeps one link to each incarnation of a router. If a second link presents an incarnation
// that another link already has, the worker closes the second link. It opens that link again once
// the first one is down or silent. There are two causes: two addresses may lead to one router, and
// a process may be a copy of another (a restored snapshot). Two copies would give their sequences
// the same ids, so the worker must not serve both.
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

// First and longest wait of two back-offs: that of an unanswered Hello, and that of Leaving, which
// has no answer.
inline constexpr Time kHelloInterval = std::chrono::milliseconds(500);
inline constexpr Time kHelloIntervalMost = std::chrono::seconds(4);
inline constexpr Time kLeavingInterval = std::chrono::milliseconds(400);
inline constexpr Time kLeavingIntervalMost = std::chrono::milliseconds(3200);

// A link without a Welcome or heartbeat for this long gives way to a duplicate.
inline constexpr Time kRouterSilent = std::chrono::seconds(2);

class Membership {
 public:
  // self: the Hello to send. routers: endpoints; they become peers 1, 2, ... in this order. Later
  // links get the next numbers, and no number is used twice.
  Membership(Hello self, const std::vector<std::string>& routers);

  bool owns(Peer peer) const;
  bool welcome() const;                                // by at least one router
  uint64_t refusals() const { return refusals_; }      // Refuse messages received
  uint64_t duplicates() const { return duplicates_; }  // links that were closed because another one has the same router

  // Opens all links. Call it once, at the actor's first event.
  void connect(WorkerEffects effects) const;

  // The endpoints that the names of routers stand for now. Opens a link to each new one, up to
  // kRouterLinksMax links in all. Endpoints of the constructor may be among them.
  void named(const std::vector<std::string>& endpoints, WorkerEffects effects);

  // Events of a link. Each call does nothing if the peer is no router of this worker.
  void up(Peer peer, Time now);
  void down(Peer peer, WorkerEffects effects);
  void welcomed(const From<Welcome>& from, Time now, WorkerEffects effects);
  // The same reason is logged once, though the router repeats it after each Hello.
  void refused(const From<Refuse>& from, WorkerEffects effects);
  void heard(const From<RouterHeartbeat>& from, Time now);

  // Sends what is due at `now` on each link: Hello, or a heartbeat with this load and, after
  // leave(), Leaving. Opens a closed link again when its time has come. Forgets links that are down
  // and no longer named.
  void send_due(Time now, const WorkerHeartbeat& load, WorkerEffects effects);
  // The time at which send_due() has something to do next; nullopt: not before an event of a link.
  std::optional<Time> next() const;

  // Sends Leaving on every link that is up, and from now on repeats it with the heartbeats. A
  // router that welcomes the worker later gets it at once.
  void leave(std::string reason, WorkerEffects effects);

 private:
  struct Link {
    Peer peer;
    std::string endpoint;
    bool listed = false;     // the constructor named it
    bool named = true;       // the constructor or the newest named() has its endpoint
    bool up = false;         // the transport has a connection
    bool welcome = false;    // the last answer was Welcome, not Refuse, and the link was not lost since
    std::string refusal;     // the reason of the last Refuse; empty after a Welcome
    bool closed = false;     // by us, as a duplicate of another link
    bool told = false;       // the duplicate was logged
    Incarnation router = 0;  // the sender of the last Welcome
    Time heard{};            // when the last Welcome or heartbeat arrived
    Time heartbeat{};        // interval of our heartbeats, from the last Welcome
    Time next{};             // when the next Hello or heartbeat is due, or the next try to open a closed link
    Backoff hellos{kHelloInterval, kHelloIntervalMost};
    Time leaving_at{};  // the earliest time of the next Leaving
    Backoff leavings{kLeavingInterval, kLeavingIntervalMost};
  };

  Link* find(Peer peer);
  // Another welcome link that has the same router, or null.
  const Link* other_with_router(const Link& link) const;
  void say_leaving(const Link& link, WorkerEffects effects) const;
  // Closes `link` as a duplicate of `kept`.
  void close(Link& link, const Link& kept, Time now, WorkerEffects effects);
  // Opens a closed link if it is time and no other link hears its router.
  void try_again(Link& link, Time now, WorkerEffects effects);
  void forget_unnamed(WorkerEffects effects);

  Hello self_;
  std::vector<Link> links_;
  uint64_t next_peer_ = 1;
  bool full_told_ = false;              // that there are more routers than kRouterLinksMax was logged
  std::optional<std::string> leaving_;  // the reason given to leave(); nullopt: it was not called
  uint64_t refusals_ = 0, duplicates_ = 0;
};

}  // namespace slipstream
