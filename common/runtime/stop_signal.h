// SIGTERM and SIGINT become a stop request; a second one ends the process at once. SIGPIPE (a reader of our log went) and
// SIGXFSZ (a file has reached the limit on its size) are ignored. Construct first in main(), before any thread starts: threads
// inherit the blocked signals, so that only this one's thread takes them.
#pragma once

#include <signal.h>

#include <stop_token>
#include <thread>

namespace slipstream {

class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  std::stop_token token() const { return stop_.get_token(); }
  void request_stop() { stop_.request_stop(); }  // as if a signal had come

 private:
  void wait(std::stop_token ending);

  sigset_t signals_;
  std::stop_source stop_;
  std::jthread waiter_;
};

}  // namespace slipstream
