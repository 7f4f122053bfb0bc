// Applies a ConnectionWatch to the real connections of one socket: it reads the kernel's byte
// counters for the watch, and cuts, counts and logs each connection that the watch names. Owned by
// the loop's thread.
//
// For each look at the socket: report the monitor's events, before_reading(), read messages and
// report them, after_reading().
#pragma once

#include <vector>

#include "common/runtime/log_gate.h"
#include "common/runtime/transport.h"
#include "common/zmq/connection_watch.h"

namespace slipstream {

class ConnectionGuard {
 public:
  ConnectionGuard(ConnectionWatch::Side side, TransportCounters& counters) : watch_(side), counters_(&counters) {}

  // As in ConnectionWatch.
  void opened(int fd);
  void closed(int fd) { watch_.closed(fd); }
  void delivered(int fd, size_t wire_bytes) { watch_.delivered(fd, wire_bytes); }
  void heard(int fd) { watch_.heard(fd); }
  void emptied() { watch_.emptied(); }
  size_t open() const { return watch_.open(); }

  void before_reading();             // REQUIRES: all monitor events up to now were reported
  std::vector<int> after_reading();  // file descriptors of the connections that it cut for CutReason::held
  void cut(int fd, CutReason why);   // cuts for a reason that the caller found

 private:
  void carry_out(const Cut& cut);

  ConnectionWatch watch_;
  TransportCounters* counters_;
  LogGate gate_;
};

}  // namespace slipstream
