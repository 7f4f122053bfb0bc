// The newest copy of a plain struct, from the loop's thread to whoever reads (the metrics page).
// Thread-safe.
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
