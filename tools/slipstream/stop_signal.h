// SIGINT, SIGTERM and SIGHUP as something to ask for, not something that interrupts. Make one at the start of main, before any
// other thread: threads inherit the mask.
#pragma once

#include <signal.h>

#include <chrono>

namespace slipstream::command {

class StopSignal {
 public:
  StopSignal() {
    sigemptyset(&set_);
    for (int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, number);
    sigprocmask(SIG_BLOCK, &set_, nullptr);
    for (int number : {SIGPIPE, SIGXFSZ}) signal(number, SIG_IGN);  // a reader that went, a full file: met as failed writes
  }
  // Waits for at most `wait`; once true, always true.
  bool arrived(std::chrono::milliseconds wait) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(wait);
    const timespec at_most{seconds.count(), std::chrono::nanoseconds(wait - seconds).count()};
    if (!arrived_ && sigtimedwait(&set_, nullptr, &at_most) > 0) arrived_ = true;
    return arrived_;
  }

 private:
  sigset_t set_;
  bool arrived_ = false;
};

}  // namespace slipstream::command
