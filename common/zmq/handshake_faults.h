// Handshakes of those who connected to us that failed: counts them, and says whose keys do not
// match. libzmq tells why one failed but not whose it was; the end of that connection is its next
// word. Owned by the loop's thread.
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
  // Both outlive it. keys: this process's own; nullopt: it has none.
  HandshakeFaults(const std::optional<Keys>& keys, TransportCounters& counters) : keys_(keys), counters_(counters) {}

  // As the socket's monitor says, in its order.
  void accepted(int fd);
  void failed(int event);  // ZMQ_EVENT_HANDSHAKE_FAILED_...
  void ended(int fd);

 private:
  void warn(const std::string& who);

  const std::optional<Keys>& keys_;
  TransportCounters& counters_;
  std::map<int, std::string> addresses_;  // by file descriptor, which is closed when we hear of the end
  bool mismatch_ = false;
  LogGate gate_;
};

}  // namespace slipstream
