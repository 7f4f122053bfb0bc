#include "tools/slipstream/chat/interrupts.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "common/base/check.h"

namespace slipstream::command::chat {

Interrupts::Interrupts() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(descriptor_ >= 0, "eventfd: {}", errno);
  sigemptyset(&signals_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, number);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  waiter_ = std::jthread([this](const std::stop_token& stop) { wait(stop); });
}

Interrupts::~Interrupts() {
  waiter_.request_stop();
  pthread_kill(waiter_.native_handle(), SIGINT);
  waiter_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  close(descriptor_);
}

void Interrupts::wait(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    int number = 0;
    if (sigwait(&signals_, &number) == 0 && !stop.stop_requested()) arrived(number);
  }
}

void Interrupts::arrived(int number) {
  if (number != SIGINT) {
    ending_ = true;
    const uint64_t one = 1;
    [[maybe_unused]] const auto written = write(descriptor_, &one, sizeof one);
  }
  std::lock_guard lock(mutex_);
  came_ = true;
  if (stop_) stop_();
}

bool Interrupts::during(const std::function<void()>& act, std::function<void()> stop) {
  {
    std::lock_guard lock(mutex_);
    stop_ = std::move(stop);
    came_ = false;
    if (ending_) stop_();
  }
  act();
  std::lock_guard lock(mutex_);
  stop_ = nullptr;
  return came_;
}

}  // namespace slipstream::command::chat
