// Hands copies of a plain struct from the thread that owns it to other threads: the loop publishes
// its counters, the metrics page reads the newest ones. Thread-safe.
#pragma once

#include <mutex>
#include <utility>

namespace slipstream {

template <class T>
class Published {
 public:
  explicit Published(T value) : value_(std::move(value)) {}
  void publish(const T& value) {
    std::lock_guard lock(mutex_);
    value_ = value;
  }
  T read() const {
    std::lock_guard lock(mutex_);
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  T value_;
};

}  // namespace slipstream
