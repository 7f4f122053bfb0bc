// One thread that runs the tasks posted to it, in order: for work too long for the thread that
// meets it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace slipstream {

class TaskThread {
 public:
  using Task = std::function<void()>;

  // waiting_max: tasks that may wait, besides the one that runs.
  explicit TaskThread(size_t waiting_max) : waiting_max_(waiting_max), thread_([this] { serve(); }) {}
  ~TaskThread() { close(); }
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  // Thread-safe. False: full or closed; the task is dropped.
  [[nodiscard]] bool post(Task task) {
    {
      std::lock_guard lock(mutex_);
      if (closed_ || waiting_.size() >= waiting_max_) return false;
      waiting_.push_back(std::move(task));
    }
    changed_.notify_one();
    return true;
  }

  // Drops the tasks that wait and returns when the one at hand has ended: none runs afterwards.
  // Calls but the first do nothing. From the owner's thread, never from a task.
  void close() {
    if (!thread_.joinable()) return;
    {
      std::deque<Task> dropped;  // dies outside the lock: what a task holds may call back
      std::lock_guard lock(mutex_);
      closed_ = true;
      dropped.swap(waiting_);
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  void serve() {
    while (auto task = next()) (*task)();
  }

  std::optional<Task> next() {  // nothing: closed
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    if (closed_) return std::nullopt;
    Task task = std::move(waiting_.front());
    waiting_.pop_front();
    return task;
  }

  const size_t waiting_max_;
  std::mutex mutex_;  // guards the next two
  std::deque<Task> waiting_;
  bool closed_ = false;
  std::condition_variable changed_;
  std::thread thread_;  // last: starts when all else stands
};

}  // namespace slipstream
