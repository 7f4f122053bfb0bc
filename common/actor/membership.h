// A worker's side of `control`: says Hello to each router until it is welcome, then heartbeats. Pure; part of a worker's actor.
//
// Routers are peers 1, 2, ... in the order given. A router that restarts or refuses is asked again.
//
// Two routers of one identity (copies of one process) would give their sequences the same names, so every worker works for one
// of them: the one whose address comes first in the alphabet, as long as it is heard. All workers that know both by the same
// addresses choose alike, and go over to the other, and back, alike. The one that is not chosen hears Leaving, and why.
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
inline constexpr Time kTwinSilent = std::chrono::seconds(2);  // so long unheard, a router makes room for its twin

class Membership {
 public:
  Membership(Hello self, const std::vector<std::string>& routers) : self_(std::move(self)) {
    for (const std::string& endpoint : routers) links_.push_back({.peer = Peer{links_.size() + 1}, .endpoint = endpoint});
  }

  bool owns(Peer peer) const { return peer.id >= 1 && peer.id <= links_.size(); }
  bool welcome() const {  // by at least one router
    return std::ranges::any_of(links_, [](const Link& link) { return link.welcome && link.aside.empty(); });
  }
  // Why this process does not work for that router, although it is welcome there: it works for its twin. "": it does.
  std::string_view why_aside(Peer peer) const { return owns(peer) ? std::string_view(links_[peer.id - 1].aside) : ""; }

  // effects: any vector whose variant holds Connect, To<Hello>, To<WorkerHeartbeat>, To<Leaving> and Note.
  void connect(auto& effects) {
    for (const Link& link : links_) effects.push_back(Connect{link.peer, link.endpoint});
  }

  void up(Peer peer, Time now) {
    Link* link = find(peer);
    if (link != nullptr) *link = {.peer = peer, .endpoint = link->endpoint, .up = true, .told = link->told, .next = now};
  }
  void down(Peer peer, auto& effects) {
    Link* link = find(peer);
    if (link == nullptr) return;
    if (link->welcome) effects.push_back(Note{fmt::format("lost the router at {}", link->endpoint)});
    link->up = link->welcome = false;
    link->aside.clear();
  }
  void take(const From<Welcome>& event, Time now, auto& effects) {
    Link* link = find(event.peer);
    if (link == nullptr || !self_.versions.includes(event.message.version)) return;
    link->router = event.message.router;
    link->heard = now;
    link->hellos.reset();
    if (!std::exchange(link->welcome, true)) effects.push_back(Note{fmt::format("joined the router at {}", link->endpoint)});
    link->refusal.clear();
    link->heartbeat = std::chrono::milliseconds(std::max(event.message.heartbeat_ms, 1U));
    link->next = now;
    link->leavings.reset();
    link->leaving_at = now + link->leavings.next();
    if (const std::string* reason = why_leaving(*link))
      say_leaving(*link, effects, *reason);  // it did not hear, or has forgotten
  }
  // The reason is told once, not at each repeated Hello. One that had welcomed this process has but forgotten it.
  void take(const From<Refuse>& event, auto& effects) {
    Link* link = find(event.peer);
    if (link == nullptr) return;
    const bool forgot = std::exchange(link->welcome, false);
    link->aside.clear();
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
    for (Link& link : links_) choose(link, now, effects);
    for (Link& link : links_) {
      if (!link.up || now < link.next) continue;
      link.next = now + (link.welcome ? link.heartbeat : link.hellos.next());
      if (!link.welcome) {
        effects.push_back(To<Hello>{link.peer, self_});
        continue;
      }
      effects.push_back(To<WorkerHeartbeat>{link.peer, load});
      const std::string* reason = why_leaving(link);
      if (reason == nullptr || now < link.leaving_at) continue;
      link.leaving_at = now + link.leavings.next();
      say_leaving(link, effects, *reason);
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
    std::string aside;       // welcome: why_aside()
    std::string told;        // the last such reason that the log has
    Incarnation router = 0;  // welcome: whose word it was
    Time heard{};            // welcome: the newest of it or its heartbeats
    Time heartbeat{};        // interval
    Time next{};             // the next Hello or heartbeat
    Backoff hellos{kHelloInterval, kHelloIntervalMost};
    Time leaving_at{};  // Leaving may be said again
    Backoff leavings{kLeavingInterval, kLeavingIntervalMost};
  };
  void say_leaving(const Link& link, auto& effects, const std::string& reason) const {
    effects.push_back(To<Leaving>{link.peer, {.reason = reason}});
  }
  const std::string* why_leaving(const Link& link) const {
    if (!link.aside.empty()) return &link.aside;
    return leaving_ ? &*leaving_ : nullptr;
  }

  // Of the links that are welcome at routers of this one's identity and heard, the first by address. Null: none is heard.
  const Link* first_of(const Link& link, Time now) const {
    const Link* first = nullptr;
    for (const Link& other : links_) {
      const bool twin = other.welcome && other.router == link.router && now - other.heard < kTwinSilent;
      if (twin && (first == nullptr || other.endpoint < first->endpoint)) first = &other;
    }
    return first;
  }
  // Which of two twins this process works for is looked at anew each time: it asks a silent one until it is welcome there
  // again. One process that goes by two addresses listens to the newest connection only, and is its own twin.
  void choose(Link& link, Time now, auto& effects) {
    if (!link.welcome) return;
    const Link* first = first_of(link, now);
    if (first == nullptr) return;
    if (first == &link) {
      if (!link.aside.empty()) ask_again(link, now);
    } else if (now - link.heard >= kTwinSilent) {
      ask_again(link, now + link.hellos.next());
    } else if (link.aside.empty()) {
      link.aside = fmt::format("the routers at {} and {} have one identity, and this process works for the first: restart one",
                               first->endpoint, link.endpoint);
      link.leavings.reset();
      link.leaving_at = now + link.leavings.next();
      say_leaving(link, effects, link.aside);
      if (std::exchange(link.told, link.aside) != link.aside) effects.push_back(Note{link.aside, true});
    }
  }
  static void ask_again(Link& link, Time when) {
    link.welcome = false;
    link.aside.clear();
    link.next = when;
  }
  Link* find(Peer peer) { return owns(peer) ? &links_[peer.id - 1] : nullptr; }

  Hello self_;
  std::vector<Link> links_;
  std::optional<std::string> leaving_;  // the reason
};

}  // namespace slipstream
