// A worker's side of `control`: says Hello to each router until it is welcome, then heartbeats. Pure; part of a worker's actor.
//
// Routers are peers 1, 2, ... in the order given. A router that restarts or refuses is asked again.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/actor/actor.h"
#include "common/actor/backoff.h"
#include "common/messages/control.h"

namespace slipstream {

inline constexpr Time kHelloInterval = std::chrono::milliseconds(500);  // of an unanswered Hello; doubling, up to
inline constexpr Time kHelloIntervalMost = std::chrono::seconds(4);
inline constexpr Time kLeavingInterval = std::chrono::milliseconds(400);  // of Leaving, which nobody answers; likewise
inline constexpr Time kLeavingIntervalMost = std::chrono::milliseconds(3200);
inline constexpr Time kTwinSilent = std::chrono::seconds(2);  // of two routers of one identity, the first holds so long

class Membership {
 public:
  Membership(Hello self, const std::vector<std::string>& routers) : self_(std::move(self)) {
    for (const std::string& endpoint : routers) links_.push_back({.peer = Peer{links_.size() + 1}, .endpoint = endpoint});
  }

  bool owns(Peer peer) const { return peer.id >= 1 && peer.id <= links_.size(); }
  bool welcome() const { return std::ranges::any_of(links_, &Link::welcome); }  // by at least one router

  // effects: any vector whose variant holds Connect, To<Hello>, To<WorkerHeartbeat>, To<Leaving> and Note.
  void connect(auto& effects) {
    for (const Link& link : links_) effects.push_back(Connect{link.peer, link.endpoint});
  }

  void up(Peer peer, Time now) {
    if (Link* link = find(peer)) *link = {.peer = peer, .endpoint = link->endpoint, .up = true, .next = now};
  }
  void down(Peer peer, auto& effects) {
    Link* link = find(peer);
    if (link == nullptr) return;
    if (link->welcome) effects.push_back(Note{fmt::format("lost the router at {}", link->endpoint)});
    link->up = link->welcome = false;
    link->router = 0;
  }
  void take(const From<Welcome>& event, Time now, auto& effects) {
    Link* link = find(event.peer);
    if (link == nullptr || !self_.versions.includes(event.message.version)) return;
    if (Link* other = twin(*link, event.message.router)) {
      if (now - other->heard < kTwinSilent) return stay_with(*other, *link, effects);
      other->welcome = false;  // the same process, which listens to one connection of ours, or gone
    }
    link->router = event.message.router;
    link->heard = now;
    link->hellos.reset();
    if (!std::exchange(link->welcome, true)) effects.push_back(Note{fmt::format("joined the router at {}", link->endpoint)});
    link->refusal.clear();
    link->heartbeat = std::chrono::milliseconds(std::max(event.message.heartbeat_ms, 1U));
    link->next = now;
    link->leavings.reset();
    link->leaving_at = now + link->leavings.next();
    if (leaving_) say_leaving(*link, effects, *leaving_);  // it did not hear, or has forgotten
  }
  // The reason is told once, not at each repeated Hello. One that had welcomed this process has but forgotten it.
  void take(const From<Refuse>& event, auto& effects) {
    Link* link = find(event.peer);
    if (link == nullptr) return;
    const bool forgot = std::exchange(link->welcome, false);
    if (std::exchange(link->refusal, event.message.reason) == event.message.reason) return;
    effects.push_back(Note{fmt::format("the router at {} refuses this process, which asks again now and then; it says: {}",
                                       link->endpoint, link->refusal),
                           !forgot});
  }

  void take(const From<RouterHeartbeat>& event, Time now) {
    if (Link* link = find(event.peer)) link->heard = now;
  }

  // Sends what is due: Hello where not welcome yet, a heartbeat where welcome, and there Leaving again, which may be lost.
  void keep(Time now, const WorkerHeartbeat& load, auto& effects) {
    for (Link& link : links_) {
      if (!link.up || now < link.next) continue;
      link.next = now + (link.welcome ? link.heartbeat : link.hellos.next());
      if (!link.welcome) {
        effects.push_back(To<Hello>{link.peer, self_});
        continue;
      }
      effects.push_back(To<WorkerHeartbeat>{link.peer, load});
      if (!leaving_ || now < link.leaving_at) continue;
      link.leaving_at = now + link.leavings.next();
      say_leaving(link, effects, *leaving_);
    }
  }
  // When keep() has something to do next.
  std::optional<Time> next() const {
    std::optional<Time> next;
    for (const Link& link : links_) {
      if (link.up) next = std::min(next.value_or(link.next), link.next);
    }
    return next;
  }

  // Told to every router that is there, with each heartbeat again, and to each that welcomes this process later.
  void leave(std::string reason, auto& effects) {
    leaving_ = std::move(reason);
    for (const Link& link : links_) {
      if (link.up) say_leaving(link, effects, *leaving_);
    }
  }

 private:
  struct Link {
    Peer peer;
    std::string endpoint;
    bool up = false;
    bool welcome = false;
    std::string refusal;     // the last, if refused
    Incarnation router = 0;  // welcome: whose word it was
    Time heard{};            // welcome: the newest of it or its heartbeats
    Time heartbeat{};        // interval
    Time next{};             // the next Hello or heartbeat
    Backoff hellos{kHelloInterval, kHelloIntervalMost};
    Time leaving_at{};  // Leaving may be said again
    Backoff leavings{kLeavingInterval, kLeavingIntervalMost};
  };
  void say_leaving(const Link& link, auto& effects, const std::string& reason) const {
    effects.push_back(To<Leaving>{link.peer, {.incarnation = self_.incarnation, .reason = reason}});
  }
  // Another link that is welcome at a router of the same identity: the same process by another address, or a copy of it.
  Link* twin(const Link& link, Incarnation router) {
    const auto same = [&](const Link& other) { return &other != &link && other.welcome && other.router == router; };
    const auto at = std::ranges::find_if(links_, same);
    return at == links_.end() ? nullptr : &*at;
  }
  // Two routers of one identity would give their sequences the same names: this process works for the one that came first, and
  // asks the other now and then, in case the first is gone.
  void stay_with(const Link& first, Link& second, auto& effects) const {
    const std::string reason = fmt::format("the routers at {} and {} have one identity: restart one, or name it once",
                                           first.endpoint, second.endpoint);
    second.welcome = false;
    say_leaving(second, effects, reason);
    if (std::exchange(second.refusal, reason) != reason) effects.push_back(Note{reason});
  }
  Link* find(Peer peer) { return owns(peer) ? &links_[peer.id - 1] : nullptr; }

  Hello self_;
  std::vector<Link> links_;
  std::optional<std::string> leaving_;  // the reason
};

}  // namespace slipstream
