// Decides who may connect to a CURVE socket of this process: libzmq asks over ZAP (ZeroMQ's RFC 27,
// an inproc socket of the context), and whoever proved to hold an enrolled key of an admitted role
// may. Messages then carry the public key as their connection's User-Id. Owned and called by the
// loop's thread.
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
  // Before a socket of this context is bound.
  ZapAuthenticator(const zmq::Context& context, Enrolled enrolled, std::vector<std::string> roles);

  const zmq::Socket& socket() const { return socket_; }
  void answer();  // all that is asked now; never blocks
  // Looks for keys that came or went, at most once a second. True: something has changed.
  bool look_again();
  const std::string* who(const std::string& public_key) const;  // its name; null: nobody who may connect here

 private:
  void answer_one(zmq::Message& version);

  Enrolled enrolled_;
  const std::vector<std::string> roles_;
  zmq::Socket socket_;
  std::chrono::steady_clock::time_point looked_at_{};
  LogGate gate_;
};

}  // namespace slipstream
