// A queue of bounded length between threads. No call waits for room or for an entry.
//
// Thread-safe: any number of threads may push and pop.
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

  // Returns false, and drops `value`, if the queue is full or closed. The caller counts the drop.
  [[nodiscard]] bool push(T value) {
    std::lock_guard lock(mutex_);
    if (closed_ || entries_.size() >= entries_max_) return false;
    entries_.push_back(std::move(value));
    return true;
  }
  // Removes the oldest entry. Returns nullopt if the queue is empty.
  std::optional<T> pop() {
    std::lock_guard lock(mutex_);
    if (entries_.empty()) return std::nullopt;
    T value = std::move(entries_.front());
    entries_.pop_front();
    return value;
  }

  // Makes every later push() fail. Entries that are in the queue can still be popped.
  void close() {
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
