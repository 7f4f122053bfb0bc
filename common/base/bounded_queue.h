// A bounded queue between threads. push() never blocks: a full queue says no, and the caller counts
// the drop.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace slipstream {

template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(size_t entries_max) : entries_max_(entries_max) {}

  [[nodiscard]] bool push(T value) {
    std::lock_guard lock(mutex_);
    if (closed_ || entries_.size() >= entries_max_) return false;
    entries_.push_back(std::move(value));
    return true;
  }
  std::optional<T> pop() {
    std::lock_guard lock(mutex_);
    if (entries_.empty()) return std::nullopt;
    T value = std::move(entries_.front());
    entries_.pop_front();
    return value;
  }

  void close() {  // takes nothing more; what is in it can still be popped
    std::lock_guard lock(mutex_);
    closed_ = true;
  }

 private:
  std::mutex mutex_;
  std::deque<T> entries_;
  size_t entries_max_;
  bool closed_ = false;
};

}  // namespace slipstream
