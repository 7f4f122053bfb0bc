// Links between actors of one process, for tests and for measuring what the sockets cost. Same
// semantics as zmq/zmq_transport.h: up, down, reconnect, bounded queues, counted drops. Endpoints
// are "memory://NAME".
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

// Where transports of one process find each other. One mutex guards all of it: a hub has a handful
// of ports. Thread-safe; must outlive its transports.
class MemoryHub {
 public:
  // self: one port an incarnation. bind: an endpoint that others connect to; taken ones abort.
  std::unique_ptr<Transport> open(Incarnation self, std::optional<std::string> bind = std::nullopt);

 private:
  friend class MemoryTransport;
  struct Port;
  // One connection, held by the port that asked for it.
  struct Link {
    std::string endpoint;
    Port* other = nullptr;  // null: nobody is bound there now
    bool greeted = false;   // the other side has seen a frame of ours
  };
  struct Port {
    Incarnation self = 0;
    std::optional<std::string> endpoint;
    std::map<Peer, Link> links;
    std::deque<TransportEvent> events;
    std::map<Peer, int> queued;  // frames in `events`, by sender
    bool woken = false;
    std::condition_variable changed;
  };

  // All with mutex_ held.
  void attach(Port& from, Peer peer, Link& link);
  void detach(Port& from, Peer peer, Link& link);
  static void tell(Port& port, TransportEvent event);

  std::mutex mutex_;
  std::vector<Port*> ports_;
};

}  // namespace slipstream
