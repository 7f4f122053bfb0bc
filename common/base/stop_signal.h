// SIGTERM and SIGINT become a stop request; a second one ends the process at once. SIGPIPE (a
// reader of our output has gone) and SIGXFSZ (a file has reached the limit on its size) are
// ignored: they show as failed writes. Construct it first in main(), before any thread starts: the
// other threads inherit the blocked signals, so that only this object's thread takes them.
#pragma once

#include <signal.h>

#include <chrono>
#include <initializer_list>
#include <stop_token>
#include <thread>

namespace slipstream {

class StopSignal {
 public:
  // also: signals that ask for the same, beside SIGTERM and SIGINT.
  explicit StopSignal(std::initializer_list<int> also = {});
  ~StopSignal();
  std::stop_token token() const { return stop_.get_token(); }
  void request_stop() { stop_.request_stop(); }  // as if a signal had come

  // Waits for a stop request, for at most `at_most`. Returns whether one has come.
  bool arrived(std::chrono::milliseconds at_most) const;

 private:
  void wait(std::stop_token ending);

  sigset_t signals_;
  std::stop_source stop_;
  std::jthread waiter_;
};

}  // namespace slipstream
