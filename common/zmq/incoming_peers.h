// Maps the connections of a bound socket to peers and back, and turns the end of a connection into
// PeerDown. A connection has three names: ZeroMQ's routing id (another one for each connection),
// the peer's incarnation (from the envelope of its first message), and a file descriptor (from the
// socket's monitor, which the kernel reuses). Pure bookkeeping; not thread-safe.
//
//   1. A connection belongs to one peer for ever. A peer has at most one live connection: the
//      newest.
//   2. PeerUp comes before a peer's first frame. After PeerDown no frame comes until the next
//      PeerUp.
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

  // Events of the socket's monitor, in the order in which it gave them. The end of a connection
  // takes effect at settle(), which the caller calls when the socket is empty: messages that came
  // before the end are then read, and PeerDown follows them.
  void accepted(int fd, Events& events);
  void disconnected(int fd) { ended_.push_back(fd); }
  void settle(Events& events);

  // The peer that sent a message over this connection, whose envelope names `incarnation`. On the
  // first message of a connection it adds PeerUp, after a PeerDown if the peer had an older one.
  // nullopt: ignore the message, as the connection was given up or has changed its incarnation.
  // key: the name of the key that the connection's owner proved to have, for PeerUp.
  // REQUIRES: all monitor events up to now were reported.
  std::optional<Peer> sender(const ConnectionId& connection, int fd, Incarnation incarnation, Events& events,
                             std::string key = {});
  bool knows(const ConnectionId& connection) const { return connections_.contains(connection); }
  std::optional<Peer> peer_of(const ConnectionId& connection) const;
  std::optional<Peer> peer_at(int fd) const;

  const ConnectionId* connection_of(Peer peer) const;  // null: the peer is not connected
  void lost(Peer peer, Events& events);                // a send failed because the connection is gone: PeerDown
  void ignore(Peer peer);                              // ignores the peer until it connects again; no PeerDown

 private:
  struct Connection {
    Peer peer;
    int fd = -1;
  };
  void end(const ConnectionId& connection, Events* events);  // events null: no PeerDown

  std::unordered_map<ConnectionId, Connection> connections_;
  std::unordered_map<Peer, ConnectionId> peers_;
  std::unordered_map<int, ConnectionId> fds_;
  std::vector<int> ended_;             // file descriptors of connections that ended since the last settle()
  std::deque<ConnectionId> given_up_;  // the last few; frames of theirs that are still queued are ignored
};

}  // namespace slipstream
