// The link to one peer that a transport connects to: its DEALER socket, its monitor, and whether it
// is up. Owned by the loop's thread.
//
// What happens when the peer is not connected:
//   no TCP connection yet       libzmq dials again by itself, at growing intervals
//   the handshake failed        Link closes the socket and makes a new one after a back-off of
//                               kReconnectMs to kReconnectMaxMs, with the keys enrolled by then.
//                               (libzmq would dial at once again for ever, or never, depending on
//                               which side hung up.)
//   an established link ended   libzmq dials again; if no connection is there after kConnectAnewMs,
//                               Link makes a new socket
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
  enum class News { none, up, up_again };  // up_again: it ended and is up once more; the end was not reported yet

  // Context, keys and counters must outlive the link. The enrolled keys in `keys` are read again
  // before each try.
  Link(const zmq::Context& context, std::optional<Keys>& keys, TransportCounters& counters, const std::string& endpoint);

  // Makes the sockets and begins to connect. An error (a forbidden endpoint, a key that is not
  // enrolled) is not final: try_again() tries again later.
  Result<void> open();
  // Does what is due of the table above. True: the sockets have changed, so poll the new ones.
  bool try_again();
  // When to call try_again() at the latest; nullopt: nothing is planned.
  std::optional<Clock::time_point> next_try() const { return up ? std::nullopt : anew_at_; }
  // Reads the monitor up to the next News; none: all is read.
  News read_monitor();

  zmq::Socket monitor, socket;  // in this order, so that the socket is closed first (zmq_socket.cpp says why)
  ConnectionGuard guard;
  bool up = false;
  bool ended = false;  // the connection ended; the transport reports it once the messages before it are read

 private:
  void connection_ended();
  void handshake_failed(int event);
  void hang_up();

  const zmq::Context& context_;
  std::optional<Keys>& keys_;
  TransportCounters& counters_;
  const std::string address_, key_;  // tcp://host:port, and the name of the key that the peer must have

  // The newest connection.
  int fd_ = -1;
  Clock::time_point connected_{};  // when TCP was established
  bool shaken_ = false;            // the handshake has succeeded
  bool failed_ = false;            // it ended without a handshake: close the socket before libzmq dials again

  // The tries.
  int failures_ = 0;                          // failed handshakes in a row
  std::optional<Clock::time_point> anew_at_;  // when to make new sockets; empty: libzmq connects by itself
  Backoff gaps_{std::chrono::milliseconds(kReconnectMs), std::chrono::milliseconds(kReconnectMaxMs)};
  LogGate gate_;
};

}  // namespace slipstream
