#include "common/base/stop_signal.h"

#include <pthread.h>

#include <condition_variable>
#include <mutex>

namespace slipstream {

StopSignal::StopSignal(std::initializer_list<int> also) {
  for (int number : {SIGPIPE, SIGXFSZ}) signal(number, SIG_IGN);
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  for (int number : also) sigaddset(&signals_, number);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  waiter_ = std::jthread([this](std::stop_token ending) { wait(ending); });
}

// The thread waits in sigwait(), so a signal to that thread wakes it. The signals stay blocked in
// all other threads, because the process is about to end.
StopSignal::~StopSignal() {
  waiter_.request_stop();
  pthread_kill(waiter_.native_handle(), SIGTERM);
}

// A condition variable that is never notified: the stop token alone ends the wait early.
bool StopSignal::arrived(std::chrono::milliseconds at_most) const {
  std::mutex mutex;
  std::condition_variable_any never_notified;
  std::unique_lock lock(mutex);
  never_notified.wait_for(lock, token(), at_most, [] { return false; });
  return stop_.stop_requested();
}

void StopSignal::wait(std::stop_token ending) {
  while (true) {
    int number = 0;
    if (sigwait(&signals_, &number) != 0) continue;
    if (ending.stop_requested()) return;
    // A stop was requested before, so this is the second signal: die of it, as without a handler.
    if (!stop_.request_stop()) {
      signal(number, SIG_DFL);
      pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
      raise(number);
    }
  }
}

}  // namespace slipstream
