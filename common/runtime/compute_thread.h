// The thread that computes with the model, so that the actor's loop never waits for a forward pass.
// It runs one job at a time: the loop submits a job and takes it back together with its result.
// submit() and take() may be called from any thread; in practice both are called by the loop.
//
//   ComputeThread<Job, Output> compute(work, [&] { transport.wake(); });
//   compute.submit(std::move(job));
//   ...                                             // finished() wakes the loop
//   if (auto ran = compute.take()) use(ran->job, ran->result);
#pragma once

#include <pthread.h>

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

  // `work` and `finished` are called on the compute thread. finished() follows each job and must
  // not block; its purpose is to wake the loop.
  ComputeThread(Work work, std::function<void()> finished)
      : work_(std::move(work)), finished_(std::move(finished)), thread_([this](std::stop_token stop) { serve(stop); }) {
    ::pthread_setname_np(thread_.native_handle(), kName);
  }

  static constexpr const char* kName = "compute";  // of its thread, for those who look at a process from outside

  // REQUIRES: no other job is submitted or running.
  void submit(J job) {
    {
      std::lock_guard lock(mutex_);
      CHECK(!job_ && !busy_, "one job at a time");
      job_ = std::move(job);
      busy_ = true;
    }
    ready_.notify_one();
  }

  // The job that has finished and its result; empty if none has. Never blocks.
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
      Result<R> result = work_(job);  // without the lock: take() must not wait for a forward pass
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

  // Guarded by mutex_.
  std::optional<J> job_;           // submitted, not yet begun
  std::optional<Ran<J, R>> done_;  // finished, not yet taken by the loop
  bool busy_ = false;              // from submit() until the job has finished

  std::jthread thread_;  // last member: it starts only when all others exist
};

}  // namespace slipstream
