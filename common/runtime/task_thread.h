// A thread that runs posted tasks one after the other. Use it for work that would block an event
// loop (tokenizing a prompt, for instance).
//
// Those who post take turns: a task waits for one task of each other poster, however many they have
// posted. The tasks of one poster run in the order in which they were posted.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace slipstream {

class TaskThread {
 public:
  using Task = std::function<void()>;
  using Over = std::function<bool()>;

  // How many tasks may wait, of all posters and of each. The task that runs does not count.
  struct Limits {
    size_t waiting_max;
    size_t of_one_max;
  };
  explicit TaskThread(Limits limits) : limits_(limits), thread_([this] { serve(); }) {}
  explicit TaskThread(size_t waiting_max) : TaskThread(Limits{waiting_max, waiting_max}) {}
  ~TaskThread() { close(); }
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  // by: who posts. over: whether nobody wants the task any more when its turn comes; then it does
  // not run, and its poster's next task has the turn. Null: never. Thread-safe. False: too many
  // wait, or the thread is closed; the task is dropped.
  [[nodiscard]] bool post(Task task, uint64_t by = 0, Over over = nullptr) {
    return wait({std::move(task), std::move(over), by}, limits_);
  }
  // The same for a task whose number is bounded elsewhere: it waits however many do. False: the
  // thread is closed.
  [[nodiscard]] bool post_unbounded(Task task, uint64_t by = 0) {
    return wait({std::move(task), nullptr, by}, {SIZE_MAX, SIZE_MAX});
  }

  // Drops the tasks that wait, and returns when the running one has ended. No task runs afterwards.
  // Further calls do nothing. Call it from the owner's thread, never from a task.
  void close() {
    if (!thread_.joinable()) return;
    {
      std::map<uint64_t, std::deque<Posted>>
          dropped;  // destroyed after the lock is released: what a task holds may call post()
      std::lock_guard lock(mutex_);
      closed_ = true;
      dropped.swap(waiting_);
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  struct Posted {
    Task run;
    Over over;
    uint64_t by;
  };

  // False: so many wait, or the thread is closed.
  bool wait(Posted posted, const Limits& limits) {
    {
      std::lock_guard lock(mutex_);
      if (closed_ || count_ >= limits.waiting_max) return false;
      const uint64_t by = posted.by;
      const auto at = waiting_.find(by);
      if (at != waiting_.end() && at->second.size() >= limits.of_one_max) return false;
      if (at == waiting_.end()) turns_.push_back(by);
      waiting_[by].push_back(std::move(posted));
      ++count_;
    }
    changed_.notify_one();
    return true;
  }

  void serve() {
    while (const auto posted = next()) {
      if (posted->over != nullptr && posted->over()) {
        give_turn_to(posted->by);
      } else {
        posted->run();
      }
    }
  }

  void give_turn_to(uint64_t by) {
    std::lock_guard lock(mutex_);
    if (const auto at = std::ranges::find(turns_, by); at != turns_.end()) std::rotate(turns_.begin(), at, std::next(at));
  }

  // Waits for a task; nullopt: closed.
  std::optional<Posted> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || count_ > 0; });
    if (closed_) return std::nullopt;
    const uint64_t by = turns_.front();
    turns_.pop_front();
    std::deque<Posted>& posted = waiting_.at(by);
    Posted task = std::move(posted.front());
    posted.pop_front();
    --count_;
    if (posted.empty()) {
      waiting_.erase(by);
    } else {
      turns_.push_back(by);
    }
    return task;
  }

  const Limits limits_;
  std::mutex mutex_;                                // guards the next four
  std::map<uint64_t, std::deque<Posted>> waiting_;  // by poster; none is empty
  std::deque<uint64_t> turns_;                      // the posters of those, the next one first
  size_t count_ = 0;                                // of the tasks that wait
  bool closed_ = false;
  std::condition_variable changed_;
  std::thread thread_;  // last member: it starts only when all others exist
};

}  // namespace slipstream
