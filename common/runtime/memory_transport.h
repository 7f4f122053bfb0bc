// Connects actors inside one process, for tests and for measuring what the sockets cost. It keeps
// the semantics of zmq/zmq_transport.h: peers go up and down, links reconnect, queues are bounded,
// and dropped frames are counted. Endpoints are "memory://NAME".
//
//   MemoryHub hub;
//   auto server = hub.open(1, "memory://verifier");
//   auto client = hub.open(2);
//   client->connect(Peer{7}, "memory://verifier");
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/runtime/transport.h"

namespace slipstream {

// The place where the transports of one process find each other. One mutex guards all of its state
// and that of all ports, because a hub has only a handful of them. Thread-safe. A hub must outlive
// its transports.
class MemoryHub {
 public:
  // Opens one port. self: the incarnation of its owner, unique within the hub. bind: the endpoint
  // that others may connect to; nullopt: this port only connects.
  // REQUIRES: no other port is bound to `bind`.
  std::unique_ptr<Transport> open(Incarnation self, std::optional<std::string> bind = std::nullopt);

 private:
  friend class MemoryTransport;
  struct Port;
  // One connection, held by the port that asked for it.
  struct Link {
    std::string endpoint;
    Port* other = nullptr;  // the port bound to `endpoint`; null: there is none now
    bool greeted = false;   // the other side has received a frame, and so a PeerUp
  };
  struct Port {
    Incarnation self = 0;
    std::optional<std::string> endpoint;
    std::map<Peer, Link> links;
    std::deque<TransportEvent> events;
    std::map<Peer, int> queued;  // frames in `events`, by sender
    bool woken = false;          // wake() was called and no waiting next() has returned since
    std::condition_variable changed;
  };

  // REQUIRES, for all three: mutex_ is held.
  void attach(Port& from, Peer peer, Link& link);      // connects the link if its endpoint is bound
  void detach(Port& from, Peer peer, Link& link);      // ends the link; REQUIRES: it is connected
  static void tell(Port& port, TransportEvent event);  // queues an event for the owner of `port`

  std::mutex mutex_;
  std::vector<Port*> ports_;
};

}  // namespace slipstream
