// A thread that runs posted tasks one after the other, in the order in which they were posted. Use
// it for work that would block an event loop (tokenizing a prompt, for instance).
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

  // waiting_max: how many tasks may wait. The task that runs does not count.
  explicit TaskThread(size_t waiting_max) : waiting_max_(waiting_max), thread_([this] { serve(); }) {}
  ~TaskThread() { close(); }
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  // Thread-safe. False: the queue is full or closed, and the task is dropped.
  [[nodiscard]] bool post(Task task) {
    {
      std::lock_guard lock(mutex_);
      if (closed_ || waiting_.size() >= waiting_max_) return false;
      waiting_.push_back(std::move(task));
    }
    changed_.notify_one();
    return true;
  }

  // Drops the tasks that wait, and returns when the running one has ended. No task runs afterwards.
  // Further calls do nothing. Call it from the owner's thread, never from a task.
  void close() {
    if (!thread_.joinable()) return;
    {
      std::deque<Task> dropped;  // destroyed after the lock is released: what a task holds may call post()
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

  // Waits for a task; nullopt: closed.
  std::optional<Task> next() {
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
  std::thread thread_;  // last member: it starts only when all others exist
};

}  // namespace slipstream
