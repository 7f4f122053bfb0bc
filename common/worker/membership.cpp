#include "common/worker/membership.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/limits.h"

namespace slipstream {

Membership::Membership(Hello self, const std::vector<std::string>& routers) : self_(std::move(self)) {
  for (const std::string& endpoint : routers) {
    links_.push_back({.peer = Peer{next_peer_++}, .endpoint = endpoint, .listed = true});
  }
}

bool Membership::owns(Peer peer) const { return std::ranges::find(links_, peer, &Link::peer) != links_.end(); }

Membership::Link* Membership::find(Peer peer) {
  const auto at = std::ranges::find(links_, peer, &Link::peer);
  return at == links_.end() ? nullptr : &*at;
}

bool Membership::welcome() const { return std::ranges::any_of(links_, &Link::welcome); }

void Membership::connect(WorkerEffects effects) const {
  for (const Link& link : links_) effects.add(Connect{link.peer, link.endpoint});
}

void Membership::named(const std::vector<std::string>& endpoints, WorkerEffects effects) {
  const auto is_named = [&](const std::string& endpoint) { return std::ranges::find(endpoints, endpoint) != endpoints.end(); };
  for (Link& link : links_) link.named = link.listed || is_named(link.endpoint);
  for (const std::string& endpoint : endpoints) {
    if (std::ranges::find(links_, endpoint, &Link::endpoint) != links_.end()) continue;
    if (links_.size() >= kRouterLinksMax) {
      if (std::exchange(full_told_, true)) return;
      effects.add(Note{
          fmt::format("no link to the router at {}: there are {} links, the most that a worker has", endpoint, links_.size()),
          true});
      return;
    }
    links_.push_back({.peer = Peer{next_peer_++}, .endpoint = endpoint});
    effects.add(Connect{links_.back().peer, endpoint});
  }
}

// A new connection may lead to a restarted router, so all but its names and `told` begins anew:
// Hello goes out at once, and both back-offs begin with their first wait.
void Membership::up(Peer peer, Time now) {
  Link* link = find(peer);
  if (link == nullptr) return;
  *link = {.peer = peer,
           .endpoint = link->endpoint,
           .listed = link->listed,
           .named = link->named,
           .up = true,
           .told = link->told,
           .next = now};
}

void Membership::down(Peer peer, WorkerEffects effects) {
  Link* link = find(peer);
  if (link == nullptr) return;
  if (link->welcome) effects.add(Note{fmt::format("lost the router at {}", link->endpoint)});
  link->up = link->welcome = false;
}

void Membership::welcomed(const From<Welcome>& from, Time now, WorkerEffects effects) {
  Link* link = find(from.peer);
  if (link == nullptr || !self_.versions.includes(from.message.version)) return;
  link->router = from.message.router;
  link->heard = now;
  // Of two links to one router, the first stays as long as it is heard. A silent one may be a link
  // whose end the transport has not noticed yet, so the newer one takes its place.
  if (const Link* other = other_with_router(*link)) {
    if (now - other->heard < kRouterSilent) return close(*link, *other, now, effects);
    close(*find(other->peer), *link, now, effects);
  }
  link->hellos.reset();
  if (!std::exchange(link->welcome, true)) effects.add(Note{fmt::format("joined the router at {}", link->endpoint)});
  link->refusal.clear();
  link->heartbeat = std::chrono::milliseconds(std::max(from.message.heartbeat_ms, 1U));
  link->next = now;
  link->leavings.reset();
  link->leaving_at = now + link->leavings.next();
  // A Hello takes a Leaving back (the router may have restarted), so say it again.
  if (leaving_) say_leaving(*link, effects);
}

void Membership::refused(const From<Refuse>& from, WorkerEffects effects) {
  Link* link = find(from.peer);
  if (link == nullptr) return;
  ++refusals_;
  // A router that had welcomed this worker has forgotten it, for example after the worker hung. The
  // next Hello mends that, so it is no warning.
  const bool forgot = std::exchange(link->welcome, false);
  if (std::exchange(link->refusal, from.message.reason) == from.message.reason) return;
  effects.add(Note{fmt::format("the router at {} refuses this process, which asks again now and then; it says: {}",
                               link->endpoint, link->refusal),
                   !forgot});
}

void Membership::heard(const From<RouterHeartbeat>& from, Time now) {
  if (Link* link = find(from.peer)) link->heard = now;
}

void Membership::send_due(Time now, const WorkerHeartbeat& load, WorkerEffects effects) {
  forget_unnamed(effects);
  for (Link& link : links_) {
    if (link.closed) try_again(link, now, effects);
    if (!link.up || now < link.next) continue;
    link.next = now + (link.welcome ? link.heartbeat : link.hellos.next());
    if (!link.welcome) {
      effects.add(To<Hello>{link.peer, self_});
      continue;
    }
    effects.add(To<WorkerHeartbeat>{link.peer, load});
    if (!leaving_ || now < link.leaving_at) continue;
    link.leaving_at = now + link.leavings.next();
    say_leaving(link, effects);
  }
}

// A link that is down has nothing to send: PeerUp is its next event. A closed link gets no event,
// so its next try needs the alarm, and so does a link that is to be forgotten.
std::optional<Time> Membership::next() const {
  std::optional<Time> next;
  for (const Link& link : links_) {
    if (link.up || link.closed || !link.named) next = std::min(next.value_or(link.next), link.next);
  }
  return next;
}

void Membership::leave(std::string reason, WorkerEffects effects) {
  leaving_ = std::move(reason);
  for (const Link& link : links_) {
    if (link.up) say_leaving(link, effects);
  }
}

void Membership::say_leaving(const Link& link, WorkerEffects effects) const {
  effects.add(To<Leaving>{link.peer, {.reason = *leaving_}});
}

const Membership::Link* Membership::other_with_router(const Link& link) const {
  const auto same = [&](const Link& other) { return &other != &link && other.welcome && other.router == link.router; };
  const auto at = std::ranges::find_if(links_, same);
  return at == links_.end() ? nullptr : &*at;
}

void Membership::close(Link& link, const Link& kept, Time now, WorkerEffects effects) {
  ++duplicates_;
  link.up = link.welcome = false;
  link.closed = true;
  link.next = now + kRouterSilent;
  effects.add(Disconnect{link.peer});
  if (std::exchange(link.told, true)) return;
  effects.add(Note{fmt::format("the routers at {} and {} are one: both present the identity {:016x}. This process keeps the "
                               "first link. If it is one router, name it once with --router; if one process is a copy of the "
                               "other, restart one",
                               kept.endpoint, link.endpoint, link.router),
                   true});
}

void Membership::forget_unnamed(WorkerEffects effects) {
  std::erase_if(links_, [&](const Link& link) {
    if (link.named || link.up) return false;
    if (!link.closed) effects.add(Disconnect{link.peer});
    effects.add(Note{fmt::format("the router at {} is forgotten: no name has that address any more", link.endpoint)});
    return true;
  });
}

// The transport reconnects by itself, but not after Disconnect: a closed link needs a new Connect.
void Membership::try_again(Link& link, Time now, WorkerEffects effects) {
  if (now < link.next) return;
  link.next = now + kRouterSilent;
  const Link* other = other_with_router(link);
  if (other != nullptr && now - other->heard < kRouterSilent) return;
  link.closed = false;
  effects.add(Connect{link.peer, link.endpoint});
}

}  // namespace slipstream
