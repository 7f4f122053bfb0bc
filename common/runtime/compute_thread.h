// The one thread that owns the model: runs one job at a time, hands job and result back through
// take().
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "common/actor/actor.h"
#include "common/base/check.h"

namespace slipstream {

template <class J, class R>
class ComputeThread {
 public:
  using Work = std::function<Result<R>(J&)>;

  // finished() is called on the compute thread after each job, and must not block (it wakes the
  // loop).
  ComputeThread(Work work, std::function<void()> finished)
      : work_(std::move(work)), finished_(std::move(finished)), thread_([this](std::stop_token stop) { serve(stop); }) {}

  void submit(J job) {
    {
      std::lock_guard lock(mutex_);
      CHECK(!job_ && !busy_, "one job at a time");
      job_ = std::move(job);
      busy_ = true;
    }
    ready_.notify_one();
  }

  std::optional<Ran<J, R>> take() {
    std::lock_guard lock(mutex_);
    return std::exchange(done_, std::nullopt);
  }

 private:
  void serve(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    while (ready_.wait(lock, stop, [this] { return job_.has_value(); }) && !stop.stop_requested()) {
      J job = *std::exchange(job_, std::nullopt);
      lock.unlock();
      Result<R> result = work_(job);
      lock.lock();
      done_.emplace(Ran<J, R>{std::move(job), std::move(result)});
      busy_ = false;
      lock.unlock();
      finished_();
      lock.lock();
    }
  }

  Work work_;
  std::function<void()> finished_;
  std::mutex mutex_;
  std::condition_variable_any ready_;
  std::optional<J> job_;           // submitted, not yet taken by the thread
  std::optional<Ran<J, R>> done_;  // finished, not yet taken by the loop
  bool busy_ = false;
  std::jthread thread_;  // last: starts when all else stands
};

}  // namespace slipstream
