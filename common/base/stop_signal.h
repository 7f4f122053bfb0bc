// Turns signals into a stop request.
//
//   SIGTERM, SIGINT   the first one requests a stop; a second one ends the process at once
//   SIGPIPE, SIGXFSZ  ignored, so that a closed reader or a file at its size limit is a failed write
//
// Construct it in main() before any thread starts. Threads inherit the mask that blocks the
// signals, so that only the thread of this object receives them.
#pragma once

#include <signal.h>

#include <chrono>
#include <initializer_list>
#include <stop_token>
#include <thread>

namespace slipstream {

class StopSignal {
 public:
  // also: further signals that request a stop.
  explicit StopSignal(std::initializer_list<int> also = {});
  ~StopSignal();
  std::stop_token token() const { return stop_.get_token(); }
  void request_stop() { stop_.request_stop(); }  // the same as a first signal. Thread-safe

  // Waits for a stop request, but no longer than `at_most`. Returns whether there is one.
  bool arrived(std::chrono::milliseconds at_most) const;

 private:
  void wait(std::stop_token ending);

  sigset_t signals_;
  std::stop_source stop_;
  std::jthread waiter_;
};

}  // namespace slipstream
