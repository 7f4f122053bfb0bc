// A ConnectionWatch over one socket's real connections: reads the kernel's books, ends whom the
// watch gives up, counts and logs it. Owned by the loop's thread.
#pragma once

#include <vector>

#include "common/runtime/log_gate.h"
#include "common/runtime/transport.h"
#include "common/zmq/connection_watch.h"

namespace slipstream {

class ConnectionGuard {
 public:
  ConnectionGuard(ConnectionWatch::Side side, TransportCounters& counters) : watch_(side), counters_(&counters) {}

  void opened(int fd);  // as ConnectionWatch
  void closed(int fd) { watch_.closed(fd); }
  void delivered(int fd, size_t wire_bytes) { watch_.delivered(fd, wire_bytes); }
  void heard(int fd) { watch_.heard(fd); }
  void emptied() { watch_.emptied(); }
  size_t open() const { return watch_.open(); }

  void before_reading();             // the monitor's news have been told
  std::vector<int> after_reading();  // the file descriptors of those that were cut for what they held
  void cut(int fd, CutReason why);   // for what the caller saw

 private:
  void carry_out(const Cut& cut);

  ConnectionWatch watch_;
  TransportCounters* counters_;
  LogGate gate_;
};

}  // namespace slipstream
