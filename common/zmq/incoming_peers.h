// Who has connected to a bound socket: connections (ZeroMQ's routing ids, new for each) to peers
// (incarnations, as their envelopes say) and back, and which file descriptor's end is whose end.
// Pure bookkeeping; not thread-safe.
//
//   1. A connection belongs to one peer for ever; a peer has at most one live connection, the
//      newest.
//   2. PeerUp comes before a peer's first frame; after PeerDown none comes until PeerUp.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/ids.h"
#include "common/runtime/transport.h"

namespace slipstream {

using ConnectionId = std::string;

class IncomingPeers {
 public:
  using Events = std::vector<TransportEvent>;

  // What the socket's monitor says, in its order. An end takes effect at settle(), when all that
  // came before has been read.
  void accepted(int fd, Events& events);
  void disconnected(int fd) { ended_.push_back(fd); }
  void settle(Events& events);

  // A frame of this connection, whose envelope names this sender. Nullopt: ignore it (a connection
  // that was given up, or that changed its name). Monitor events up to now must have been told
  // before. key: the name of the one that this connection's owner has, for its PeerUp.
  std::optional<Peer> sender(const ConnectionId& connection, int fd, Incarnation incarnation, Events& events,
                             std::string key = {});
  bool knows(const ConnectionId& connection) const { return connections_.contains(connection); }
  std::optional<Peer> peer_of(const ConnectionId& connection) const;
  std::optional<Peer> peer_at(int fd) const;

  const ConnectionId* connection_of(Peer peer) const;  // null: not connected
  void lost(Peer peer, Events& events);                // a send found nobody
  void ignore(Peer peer);                              // until it connects anew; no PeerDown

 private:
  struct Connection {
    Peer peer;
    int fd = -1;
  };
  void end(const ConnectionId& connection, Events* events);

  std::unordered_map<ConnectionId, Connection> connections_;
  std::unordered_map<Peer, ConnectionId> peers_;
  std::unordered_map<int, ConnectionId> fds_;
  std::vector<int> ended_;
  std::deque<ConnectionId> given_up_;  // the last few: their frames may still be on the way
};

}  // namespace slipstream
