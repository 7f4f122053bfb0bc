// One peer that a transport connects to: its DEALER socket, and whether the link is up. Owned by
// the loop's thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "common/actor/backoff.h"
#include "common/keys/keys.h"
#include "common/runtime/log_gate.h"
#include "common/zmq/connection_guard.h"
#include "common/zmq/zmq_settings.h"
#include "common/zmq/zmq_socket.h"

namespace slipstream {

class Link {
 public:
  using Clock = std::chrono::steady_clock;
  enum class News { none, up, up_again };  // again: it had ended unnoticed

  // Context, keys and counters outlive it. keys: their enrolled ones are read anew with each try.
  Link(const zmq::Context& context, std::optional<Keys>& keys, TransportCounters& counters, const std::string& endpoint);

  // Error: there can be no link as things are; try_again() goes on trying.
  Result<void> open();
  // libzmq dials again by itself, at growing gaps, until the TCP connection stands. What fails
  // after that is ours: libzmq dials at once again for ever, or never, by who hung up. So a try
  // that ended without a handshake ends the sockets, and new ones are made after kReconnectMs to
  // kReconnectMaxMs, with the keys enrolled then. True: the sockets are others now.
  bool try_again();
  std::optional<Clock::time_point> next_try() const { return up ? std::nullopt : anew_at_; }  // look at it then, at the latest
  News read_monitor();

  zmq::Socket monitor, socket;  // in this order: the socket ends first (zmq_socket.cpp says why)
  ConnectionGuard guard;
  bool up = false;
  bool ended = false;  // the connection ended; told when all that came before has been read

 private:
  void connection_ended();
  void handshake_failed(int event);
  void hang_up();

  const zmq::Context& context_;
  std::optional<Keys>& keys_;
  TransportCounters& counters_;
  const std::string address_, key_;           // tcp://host:port, and the name of the key that the peer must have
  int fd_ = -1;                               // of the newest connection
  Clock::time_point connected_{};             // when it stood
  bool shaken_ = false;                       // hands, on it
  bool failed_ = false;                       // it ended without a handshake: libzmq must not dial again
  int failures_ = 0;                          // of such tries in a row
  std::optional<Clock::time_point> anew_at_;  // when to make new sockets
  Backoff gaps_{std::chrono::milliseconds(kReconnectMs), std::chrono::milliseconds(kReconnectMaxMs)};
  LogGate gate_;
};

}  // namespace slipstream
