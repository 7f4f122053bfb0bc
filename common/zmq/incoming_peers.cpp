#include "common/zmq/incoming_peers.h"

#include <algorithm>
#include <utility>

namespace slipstream {
namespace {

constexpr size_t kGivenUpMax = 256;

}  // namespace

// The kernel gives a descriptor to a new connection only after the old one was closed. So whatever
// connection had this descriptor has ended, even if its end was not settled yet.
void IncomingPeers::accepted(int fd, Events& events) {
  std::erase(ended_, fd);
  if (const auto at = fds_.find(fd); at != fds_.end()) end(ConnectionId(at->second), &events);
}

void IncomingPeers::settle(Events& events) {
  for (int fd : std::exchange(ended_, {})) {
    if (const auto at = fds_.find(fd); at != fds_.end()) end(ConnectionId(at->second), &events);
  }
}

std::optional<Peer> IncomingPeers::sender(const ConnectionId& connection, int fd, Incarnation incarnation, Events& events,
                                          std::string key) {
  const Peer peer = incoming_peer(incarnation);
  // A connection that names another incarnation than before is not believed (rule 1 of the header).
  if (const auto at = connections_.find(connection); at != connections_.end()) {
    return at->second.peer == peer ? std::optional(peer) : std::nullopt;
  }
  if (std::ranges::find(given_up_, connection) != given_up_.end()) return std::nullopt;
  // The peer has reconnected, and the end of its older connection was not reported yet.
  if (const auto* older = connection_of(peer)) end(ConnectionId(*older), &events);
  // Two connections were accepted on this descriptor before either sent a message. One of them has
  // ended, nearly always the one that was heard first.
  if (const auto at = fds_.find(fd); at != fds_.end()) {
    const ConnectionId first = at->second;
    end(first, &events);
    std::erase(given_up_, first);  // in the other case it lives, and its next message brings it back
  }
  connections_[connection] = {peer, fd};
  peers_[peer] = connection;
  fds_[fd] = connection;
  events.emplace_back(PeerUp{peer, std::move(key)});
  return peer;
}

std::optional<Peer> IncomingPeers::peer_of(const ConnectionId& connection) const {
  const auto at = connections_.find(connection);
  return at == connections_.end() ? std::nullopt : std::optional(at->second.peer);
}

std::optional<Peer> IncomingPeers::peer_at(int fd) const {
  const auto at = fds_.find(fd);
  return at == fds_.end() ? std::nullopt : peer_of(at->second);
}

const ConnectionId* IncomingPeers::connection_of(Peer peer) const {
  const auto at = peers_.find(peer);
  return at == peers_.end() ? nullptr : &at->second;
}

void IncomingPeers::lost(Peer peer, Events& events) {
  if (const auto* connection = connection_of(peer)) end(ConnectionId(*connection), &events);
}

void IncomingPeers::ignore(Peer peer) {
  if (const auto* connection = connection_of(peer)) end(ConnectionId(*connection), nullptr);
}

void IncomingPeers::end(const ConnectionId& connection, Events* events) {
  const auto at = connections_.find(connection);
  if (at == connections_.end()) return;
  const auto [peer, fd] = at->second;
  connections_.erase(at);
  peers_.erase(peer);
  // The descriptor may belong to a newer connection by now.
  if (const auto by_fd = fds_.find(fd); by_fd != fds_.end() && by_fd->second == connection) fds_.erase(by_fd);
  given_up_.push_back(connection);
  if (given_up_.size() > kGivenUpMax) given_up_.pop_front();
  if (events) events->emplace_back(PeerDown{peer});
}

}  // namespace slipstream
