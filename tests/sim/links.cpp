#include "tests/sim/links.h"

namespace slipstream::sim {
namespace {

// The same timeouts as libzmq has in zmq/zmq_transport.cpp.
constexpr Time kSilentLeast = std::chrono::milliseconds(4000), kSilentMost = std::chrono::milliseconds(6000);
constexpr Time kDialLeast = std::chrono::milliseconds(1), kDialMost = std::chrono::milliseconds(120);
constexpr Time kEndSeen = std::chrono::microseconds(100);  // from the last byte of a connection to its end

}  // namespace

void Links::open(Incarnation self, std::string name, Listener& listener, std::optional<std::string> endpoint) {
  if (endpoint) bound_[*endpoint].insert(self);
  processes_[self] = {.name = std::move(name), .listener = &listener, .endpoint = std::move(endpoint)};
  for (const auto& [key, link] : links_) dial(key);
}

void Links::close(Incarnation self) {
  if (const Process* process = alive(self); process != nullptr && process->endpoint) bound_[*process->endpoint].erase(self);
  processes_.erase(self);
  for (const auto& [key, link] : links_) {
    if (key.first != self && link.to != self) continue;
    // The kernel delivers what the process had sent before its end.
    const Time end = std::max({time_.now(), link.newest[0], link.newest[1]}) + kEndSeen;
    time_.at(end, [this, key = key, session = link.session] { hang_up(key, session); });
  }
}

void Links::freeze(Incarnation self) {
  if (Process* process = alive(self)) process->frozen = true;
  look_at(self);
}
void Links::thaw(Incarnation self) {
  if (Process* process = alive(self)) process->frozen = false;
  look_at(self);
  for (const auto& [key, link] : links_) dial(key);
}
void Links::separate(Incarnation a, Incarnation b) {
  separated_.insert(std::minmax(a, b));
  look_at(a);
}
void Links::join(Incarnation a, Incarnation b) {
  separated_.erase(std::minmax(a, b));
  look_at(a);
  look_at(b);
}

void Links::connect(Incarnation self, Peer peer, const std::string& endpoint) {
  links_[{self, peer}] = {.endpoint = endpoint};
  dial({self, peer});
}

// An incoming connection stays open, but its messages are ignored until it connects again
// (zmq/incoming_peers.h).
void Links::disconnect(Incarnation self, Peer peer) {
  const auto at = way(self, peer);
  if (!at) {
    links_.erase({self, peer});
    return;
  }
  Link& link = links_.at(at->key);
  if (at->direction == 1) {
    link.ignored = true;
    return;
  }
  if (Process* other = alive(link.to); other != nullptr && link.greeted) {
    const Time end = std::max(time_.now(), link.newest[0]) + kEndSeen;
    time_.at(end, [this, to = link.to, self] {
      if (Process* process = alive(to)) process->listener->down(incoming_peer(self));
    });
  }
  links_.erase(at->key);
}

void Links::send(Incarnation self, Peer peer, Message message) {
  const auto at = way(self, peer);
  if (!at) return;
  const Weather& weather = climate_[static_cast<size_t>(boundary(message))];
  const auto* tokens = std::get_if<Tokens>(&message);
  ++tallies_.sent[static_cast<size_t>(boundary(message))];
  const bool finish = tokens != nullptr && tokens->finish != Finish::none;
  if (trace_.on() && !routine(message)) {
    const Link& link = links_.at(at->key);
    const Incarnation other = at->direction == 0 ? link.to : at->key.first;
    const Process* process = alive(other);
    trace_.line(alive(self)->name, "-> {}: {}", process == nullptr ? "the dead" : process->name, describe(message));
  }
  if (random_.chance(weather.lost)) {
    ++tallies_.lost;
    tallies_.lost_finishes += finish;
    if (!routine(message)) trace_.line(alive(self)->name, "   ... which is lost");
    return;
  }
  // The copy may arrive out of order.
  if (random_.chance(weather.doubled)) {
    ++tallies_.doubled;
    carry(*at, message, false);
  }
  carry(*at, std::move(message), !random_.chance(weather.reordered));
}

void Links::carry(const Way& way, Message message, bool in_order) {
  const Weather& weather = climate_[static_cast<size_t>(boundary(message))];
  Time arrival = time_.now() + random_.between(weather.usual_least, weather.usual_most);
  if (random_.chance(weather.delayed)) arrival += random_.between(weather.delay_least, weather.delay_most);
  if (in_order) {
    Time& newest = links_.at(way.key).newest[static_cast<size_t>(way.direction)];
    arrival = newest = std::max(arrival, newest);
  } else {
    arrival += random_.between(Time(0), random_.chance(weather.straggles) ? weather.straggle_most : weather.reorder_most);
  }
  time_.at(arrival, [this, way, message = std::move(message)]() mutable { arrive(way, std::move(message)); });
}

void Links::arrive(const Way& way, Message message) {
  Link* link = current(way);
  if (link == nullptr) {
    if (!routine(message)) trace_.line("links", "drops, as its connection has ended: {}", describe(message));
    return;
  }
  if (!parted(way.key.first, link->to)) return take(way, *link, std::move(message));
  link->held.push_back([this, way, message = std::move(message)]() mutable { arrive(way, std::move(message)); });
}

void Links::take(const Way& way, Link& link, Message message) {
  Process* receiver = alive(way.direction == 0 ? link.to : way.key.first);
  if (receiver == nullptr) return;
  if (trace_.on() && !routine(message)) {
    const Process* sender = alive(way.direction == 0 ? way.key.first : link.to);
    trace_.line(receiver->name, "<- {}: {}{}", sender == nullptr ? "the dead" : sender->name, describe(message),
                way.direction == 0 && link.ignored ? ", which it ignores" : "");
  }
  if (way.direction == 1) return receiver->listener->hear(way.key.second, std::move(message));
  if (link.ignored) return;
  const Peer sender = incoming_peer(way.key.first);
  // A bound process learns of a connector with its first message, as with a ROUTER socket.
  if (!std::exchange(link.greeted, true)) receiver->listener->up(sender);
  receiver->listener->hear(sender, std::move(message));
}

// Returns the connection that `self` names `peer`, if it exists.
std::optional<Links::Way> Links::way(Incarnation self, Peer peer) const {
  const bool incoming = (peer.id & kIncomingPeer) != 0;
  if (!incoming) {
    const auto at = links_.find({self, peer});
    if (at == links_.end() || at->second.to == 0) return std::nullopt;
    return Way{at->first, at->second.session, 0};
  }
  const Incarnation from = peer.id & ~kIncomingPeer;
  for (auto at = links_.lower_bound({from, Peer{}}); at != links_.end() && at->first.first == from; ++at) {
    if (at->second.to == self && at->second.greeted) return Way{at->first, at->second.session, 1};
  }
  return std::nullopt;
}

Links::Link* Links::current(const Way& way) {
  const auto at = links_.find(way.key);
  return at == links_.end() || at->second.to == 0 || at->second.session != way.session ? nullptr : &at->second;
}

Links::Process* Links::alive(Incarnation self) {
  const auto at = processes_.find(self);
  return at == processes_.end() ? nullptr : &at->second;
}

bool Links::in_trouble(const Key& key, const Link& link) {
  return alive(key.first) == nullptr || alive(link.to) == nullptr || parted(key.first, link.to);
}

// Updates this process's links after a separation, a join, a freeze or a thaw: connects those that
// can be connected, schedules the end of those that are silent, and delivers what was held back.
void Links::look_at(Incarnation self) {
  for (auto& [key, link] : links_) {
    if (key.first == self && link.to == 0) dial(key);
    if (link.to == 0 || (key.first != self && link.to != self)) continue;
    // The link ends only if the same trouble still lasts at the timeout; `trouble` identifies it.
    const uint64_t trouble = ++link.trouble;
    if (in_trouble(key, link)) {
      time_.in(random_.between(kSilentLeast, kSilentMost), [this, key = key, session = link.session, trouble] {
        const auto at = links_.find(key);
        if (at != links_.end() && at->second.trouble == trouble) hang_up(key, session);
      });
    }
    if (parted(key.first, link.to)) continue;
    for (auto& arrival : std::exchange(link.held, {})) time_.in(Time(0), std::move(arrival));
  }
}

void Links::dial(const Key& key) {
  if (links_.at(key).to != 0) return;
  time_.in(random_.between(kDialLeast, kDialMost), [this, key] {
    const auto at = links_.find(key);
    Process* self = alive(key.first);
    if (at == links_.end() || at->second.to != 0 || self == nullptr || self->frozen) return;
    Link& link = at->second;
    const auto bound = bound_.find(link.endpoint);
    if (bound == bound_.end()) return;
    for (const Incarnation incarnation : bound->second) {
      if (processes_.at(incarnation).frozen || parted(key.first, incarnation)) continue;
      link.to = incarnation;
      link.newest = {};
      self->listener->up(key.second);
      return;
    }
  });
}

// Closes a connection at both ends; the connector then tries again.
void Links::hang_up(const Key& key, uint64_t session) {
  const auto at = links_.find(key);
  if (at == links_.end() || at->second.session != session || at->second.to == 0) return;
  const Link ended = std::exchange(at->second, Link{.endpoint = at->second.endpoint, .session = session + 1});
  Process *from = alive(key.first), *to = alive(ended.to);
  if (to != nullptr && ended.greeted) to->listener->down(incoming_peer(key.first));
  if (from == nullptr) {
    links_.erase(key);
    return;
  }
  from->listener->down(key.second);
  if (links_.contains(key)) dial(key);
}

}  // namespace slipstream::sim
