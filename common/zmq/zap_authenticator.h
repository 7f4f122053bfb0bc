// Decides which peers may connect to a CURVE socket of this process. libzmq asks it during each
// handshake, over ZAP (ZeroMQ's RFC 27: an inproc socket of the context), after it has checked that
// the peer holds the private key. A peer is admitted if its public key is enrolled under a name of
// an admitted role ("drafter-2" is of role "drafter"; docs/use/KEYS.md). Each message of an
// admitted connection then carries the public key as its User-Id. Owned and called by the loop's
// thread.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "common/keys/enrolled.h"
#include "common/runtime/log_gate.h"
#include "common/zmq/zmq_socket.h"

namespace slipstream {

class ZapAuthenticator {
 public:
  // Create it before a socket of this context is bound: libzmq looks for it then.
  // REQUIRES: the context has no other authenticator.
  ZapAuthenticator(const zmq::Context& context, Enrolled enrolled, std::vector<std::string> roles);

  const zmq::Socket& socket() const { return socket_; }
  void answer();  // answers all requests that wait now; never blocks
  // Reads the folder of enrolled keys again, at most once a second. True: the keys have changed.
  bool look_again();
  const std::string* who(const std::string& public_key) const;  // the key's name; null: it may not connect here

 private:
  void answer_one(zmq::Message& version);

  Enrolled enrolled_;
  const std::vector<std::string> roles_;
  zmq::Socket socket_;
  std::chrono::steady_clock::time_point looked_at_{};
  LogGate gate_;
};

}  // namespace slipstream
