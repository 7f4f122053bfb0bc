#include "common/runtime/stop_signal.h"

#include <pthread.h>

namespace slipstream {

StopSignal::StopSignal() {
  for (int number : {SIGPIPE, SIGXFSZ}) signal(number, SIG_IGN);  // they are met as failed writes (base/log.h)
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  waiter_ = std::jthread([this](std::stop_token ending) { wait(ending); });
}

// The signals stay blocked in the other threads: the process is about to end.
StopSignal::~StopSignal() {
  waiter_.request_stop();
  pthread_kill(waiter_.native_handle(), SIGTERM);
}

void StopSignal::wait(std::stop_token ending) {
  while (true) {
    int number = 0;
    if (sigwait(&signals_, &number) != 0) continue;
    if (ending.stop_requested()) return;
    if (!stop_.request_stop()) {  // asked before: somebody is impatient
      signal(number, SIG_DFL);
      pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
      raise(number);
    }
  }
}

}  // namespace slipstream
