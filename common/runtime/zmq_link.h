// One peer that a transport connects to: its DEALER socket, and whether the link is up. Owned by the loop's thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "common/keys/keys.h"
#include "common/runtime/connection_guard.h"
#include "common/runtime/log_gate.h"
#include "common/runtime/zmq_socket.h"

namespace slipstream {

class Link {
 public:
  enum class News { none, up, up_again };  // again: it had ended unnoticed

  // Context, keys and counters outlive it. keys: their enrolled ones are read anew with each try.
  Link(const zmq::Context& context, std::optional<Keys>& keys, TransportCounters& counters, const std::string& endpoint);

  // Error: there can be no link as things are; try_again() goes on trying.
  Result<void> open();
  // libzmq gives up for good after a failed handshake, and a key may be enrolled later: begins anew every kConnectAnewMs while
  // the link is down. True: the sockets are others now.
  bool try_again();
  News read_monitor();

  zmq::Socket monitor, socket;  // in this order: the socket ends first (zmq_socket.cpp says why)
  ConnectionGuard guard;
  bool up = false;
  bool ended = false;  // the connection ended; told when all that came before has been read

 private:
  void handshake_failed(int event);

  const zmq::Context& context_;
  std::optional<Keys>& keys_;
  TransportCounters& counters_;
  const std::string address_, key_;  // tcp://host:port, and the name of the key that the peer must have
  std::chrono::steady_clock::time_point tried_{};
  LogGate gate_;
};

}  // namespace slipstream
