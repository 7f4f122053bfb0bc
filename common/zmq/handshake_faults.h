// Counts the failed handshakes of peers that connected to us, and logs the address of a peer whose
// keys do not match ours. Owned by the loop's thread.
//
// libzmq's event of a failed handshake says why it failed, but not which connection it was. The
// next event of the monitor is the end of that connection, and it names the file descriptor. So
// failed() remembers the failure and ended() logs it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/keys/keys.h"
#include "common/runtime/log_gate.h"
#include "common/runtime/transport.h"

namespace slipstream {

class HandshakeFaults {
 public:
  // keys: those of this process; nullopt: it has none. Both arguments must outlive this object.
  HandshakeFaults(const std::optional<Keys>& keys, TransportCounters& counters) : keys_(keys), counters_(counters) {}

  // Events of the socket's monitor, in the order in which it gave them.
  void accepted(int fd);
  void failed(int event);  // ZMQ_EVENT_HANDSHAKE_FAILED_...
  void ended(int fd);

 private:
  void warn(const std::string& who);

  const std::optional<Keys>& keys_;
  TransportCounters& counters_;
  std::map<int, std::string> addresses_;  // by file descriptor; read at accepted(), as the fd is closed before ended()
  bool mismatch_ = false;                 // the last failure was a mismatch, and its connection has not ended yet
  LogGate gate_;
};

}  // namespace slipstream
