// Whether a process gets on. The loop's thread notes its turns and its compute jobs, and any thread
// may ask for how long the newest of each lasts: a loop or a job that hangs cannot say so itself.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "common/actor/actor.h"

namespace slipstream {

struct Standstill {
  std::chrono::milliseconds loop{0};  // since the loop's newest turn; one that waits turns each kSleepMax
  std::chrono::milliseconds job{0};   // that the present compute job has run; 0: none runs
};

// Times are on the loop's clock (ActorLoop). Thread-safe.
class Progress {
 public:
  void turned(Time now) { turned_.store(now.count(), std::memory_order_relaxed); }
  void job_began(Time now) { job_began_.store(now.count(), std::memory_order_relaxed); }
  void job_ended() { job_began_.store(kNone, std::memory_order_relaxed); }

  Standstill standstill(Time now) const {
    const int64_t job = job_began_.load(std::memory_order_relaxed);
    return {.loop = between(turned_.load(std::memory_order_relaxed), now),
            .job = job == kNone ? std::chrono::milliseconds(0) : between(job, now)};
  }

 private:
  static constexpr int64_t kNone = -1;
  // now may have been read a little before `then` was noted.
  static std::chrono::milliseconds between(int64_t then, Time now) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::max(now - Time(then), Time(0)));
  }

  std::atomic<int64_t> turned_{0}, job_began_{kNone};  // in microseconds
};

}  // namespace slipstream
