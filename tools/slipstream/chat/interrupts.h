// Ctrl-C in a chat: it stops the answer that streams, and not the program. SIGTERM and SIGHUP stop
// it as well, and say that the chat shall end.
//
// Construct it before any other thread starts: it blocks the signals in the threads that begin
// after it, so that only its own thread gets them. Thread-safe.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace slipstream::command::chat {

class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Runs `act`, and calls `stop` in the own thread if a signal comes meanwhile. Returns whether one
  // came.
  bool during(const std::function<void()>& act, std::function<void()> stop);
  bool ending() const { return ending_; }         // SIGTERM or SIGHUP came
  int descriptor() const { return descriptor_; }  // an eventfd: readable once `ending`

 private:
  void wait(const std::stop_token& stop);
  void arrived(int number);

  sigset_t signals_{}, before_{};
  int descriptor_;
  std::atomic<bool> ending_ = false;
  std::mutex mutex_;
  std::function<void()> stop_;  // guarded by mutex_
  bool came_ = false;           // guarded by mutex_
  std::jthread waiter_;         // last member: it uses the others
};

}  // namespace slipstream::command::chat
