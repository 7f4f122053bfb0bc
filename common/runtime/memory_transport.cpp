#include "common/runtime/memory_transport.h"

#include <algorithm>

#include "common/base/check.h"

namespace slipstream {

class MemoryTransport final : public Transport {
 public:
  MemoryTransport(MemoryHub& hub, Incarnation self, std::optional<std::string> bind) : hub_(hub) {
    std::lock_guard lock(hub_.mutex_);
    port_.self = self;
    port_.endpoint = std::move(bind);
    for (auto* other : hub_.ports_) {
      CHECK(!port_.endpoint || other->endpoint != port_.endpoint, "{} is taken", *port_.endpoint);
    }
    hub_.ports_.push_back(&port_);
    for (auto* other : hub_.ports_) {  // links that waited for this endpoint connect now
      for (auto& [peer, link] : other->links) hub_.attach(*other, peer, link);
    }
  }

  ~MemoryTransport() override { close(std::chrono::milliseconds(0)); }

  void connect(Peer peer, const std::string& endpoint) override {
    std::lock_guard lock(hub_.mutex_);
    const auto [at, added] = port_.links.try_emplace(peer, MemoryHub::Link{.endpoint = endpoint});
    CHECK(added, "peer {} is connected already", peer.id);
    hub_.attach(port_, peer, at->second);
  }

  void disconnect(Peer peer) override {
    std::lock_guard lock(hub_.mutex_);
    if (auto at = port_.links.find(peer); at != port_.links.end()) {
      if (at->second.other) hub_.detach(port_, peer, at->second);
      port_.links.erase(at);
    } else if (auto [from, name, link] = incoming(peer); link) {
      hub_.detach(*from, name, *link);
      hub_.tell(*from, PeerDown{name});
      hub_.attach(*from, name, *link);  // the other side reconnects, as libzmq would
    }
    // disconnect() promises that no event of this peer follows.
    std::erase_if(port_.events, [&](const TransportEvent& event) {
      return std::visit([&](const auto& e) { return e.peer == peer; }, event);
    });
    port_.queued.erase(peer);
  }

  // The receiver learns of an incoming peer with its first frame, as over ZeroMQ, where the
  // envelope of that frame is the first thing that names the sender.
  void send(Peer peer, Frame frame) override {
    std::lock_guard lock(hub_.mutex_);
    if (auto at = port_.links.find(peer); at != port_.links.end()) {
      if (!at->second.other) return void(++counters_.dropped_gone);
      const Peer me = incoming_peer(port_.self);
      if (!std::exchange(at->second.greeted, true)) hub_.tell(*at->second.other, PeerUp{me});
      return push(*at->second.other, me, std::move(frame));
    }
    if (auto [from, name, link] = incoming(peer); link && link->greeted) return push(*from, name, std::move(frame));
    ++counters_.dropped_gone;
  }

  std::optional<TransportEvent> next(std::chrono::microseconds wait) override {
    std::unique_lock lock(hub_.mutex_);
    const auto ready = [this] { return port_.woken || !port_.events.empty(); };
    if (wait.count() > 0 && !ready()) port_.changed.wait_for(lock, wait, ready);
    if (port_.events.empty()) {
      if (wait.count() > 0) port_.woken = false;  // a look without waiting does not use the wake-up
      return std::nullopt;
    }
    TransportEvent event = std::move(port_.events.front());
    port_.events.pop_front();
    if (auto* from = std::get_if<FrameFrom>(&event)) {
      --port_.queued[from->peer];
      ++counters_.received;
      counters_.received_bytes += from->frame.bytes.size();
      // Checked by the receiver, as over a socket, where the sender cannot be trusted.
      if (from->frame.bytes.size() > frame_bytes_max(from->frame.boundary)) {
        ++counters_.malformed;
        return Malformed{from->peer, "a frame over the limit of its boundary"};
      }
    }
    return event;
  }

  void wake() override {
    std::lock_guard lock(hub_.mutex_);
    port_.woken = true;
    port_.changed.notify_one();
  }

  // No linger is needed: a frame is in the receiver's queue as soon as it is sent.
  void close(std::chrono::milliseconds) override {
    std::lock_guard lock(hub_.mutex_);
    if (std::erase(hub_.ports_, &port_) == 0) return;
    for (auto& [peer, link] : port_.links) {
      if (link.other) hub_.detach(port_, peer, link);
    }
    port_.links.clear();
    for (auto* other : hub_.ports_) {
      for (auto& [peer, link] : other->links) {
        if (link.other != &port_) continue;
        link.other = nullptr;
        link.greeted = false;
        hub_.tell(*other, PeerDown{peer});
      }
    }
  }

  const TransportCounters& counters() const override { return counters_; }

 private:
  // The link of another port that is connected to this one.
  struct Incoming {
    MemoryHub::Port* from = nullptr;
    Peer name;  // what `from` calls this port
    MemoryHub::Link* link = nullptr;
  };
  Incoming incoming(Peer peer) {
    for (auto* from : hub_.ports_) {
      if (incoming_peer(from->self) != peer) continue;
      for (auto& [name, link] : from->links) {
        if (link.other == &port_) return {from, name, &link};
      }
    }
    return {};
  }

  void push(MemoryHub::Port& to, Peer me, Frame frame) {
    int& queued = to.queued[me];
    if (queued >= kSocketHighWaterMessages) return void(++counters_.dropped_full);
    ++queued;
    ++counters_.sent;
    counters_.sent_bytes += frame.bytes.size();
    hub_.tell(to, FrameFrom{me, std::move(frame)});
  }

  MemoryHub& hub_;
  MemoryHub::Port port_;
  TransportCounters counters_;
};

std::unique_ptr<Transport> MemoryHub::open(Incarnation self, std::optional<std::string> bind) {
  return std::make_unique<MemoryTransport>(*this, self, std::move(bind));
}

void MemoryHub::attach(Port& from, Peer peer, Link& link) {
  if (link.other) return;
  const auto at = std::ranges::find_if(ports_, [&](Port* port) { return port->endpoint == link.endpoint; });
  if (at == ports_.end()) return;
  link.other = *at;
  tell(from, PeerUp{peer});
}

// Gives PeerDown to the other side only. The side that owns the link either ended it itself or gets
// its PeerDown from the caller.
void MemoryHub::detach(Port& from, Peer, Link& link) {
  if (link.greeted) tell(*link.other, PeerDown{incoming_peer(from.self)});
  link.other = nullptr;
  link.greeted = false;
}

void MemoryHub::tell(Port& port, TransportEvent event) {
  port.events.push_back(std::move(event));
  port.changed.notify_one();
}

}  // namespace slipstream
