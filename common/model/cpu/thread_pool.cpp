#include "common/model/cpu/thread_pool.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "common/base/check.h"

namespace slipstream {
namespace {

constexpr int kPausesPerLook = 32;            // pauses between two readings of the clock
constexpr uint64_t kBeginBits = 0xFFFF'FFFF;  // the lower half of a ticket
constexpr uint64_t kClosed = kBeginBits;      // beyond the end of every loop

void pause() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

// Spins until ready(), for kSpinFor at most. Returns whether it is ready.
template <class Ready>
bool spin(const Ready& ready) {
  const auto until = std::chrono::steady_clock::now() + kSpinFor;
  do {
    for (int i = 0; i < kPausesPerLook; ++i) {
      if (ready()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < until);
  return ready();
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  CHECK(threads >= 1 && threads <= kComputeThreadsMax, "{} compute threads", threads);
  // The exception must not leave the constructor: it would join the workers that have started,
  // which nothing has told to stop.
  std::string refused;
  try {
    for (int thread = 1; thread < threads; ++thread) workers_.emplace_back([this, thread] { serve(thread); });
  } catch (const std::system_error& error) {
    refused = error.what();
  }
  CHECK(refused.empty(),
        "there are only {} of {} compute threads ({}); give fewer with --threads, or raise the limit of processes (ulimit -u)",
        this->threads(), threads, refused);
}

ThreadPool::~ThreadPool() {
  stopping_ = true;
  loops_.fetch_add(1);
  loops_.notify_all();
}

// Publishes a loop, works on it, and waits for the ranges that workers have claimed.
void ThreadPool::split(int32_t count, int32_t grain, Call call, const void* context) {
  const uint32_t loop = loops_.load(std::memory_order_relaxed) + 1;
  // Close the ticket first: from here on a worker that still tries to claim a range of the last
  // loop fails, whatever it has read of the fields. The fields are stored with release order, so no
  // worker sees a new field and then the old ticket.
  ticket_.store(uint64_t{loop} << 32 | kClosed, std::memory_order_relaxed);
  count_.store(count, std::memory_order_release);
  grain_.store(grain, std::memory_order_release);
  call_.store(call, std::memory_order_release);
  context_.store(context, std::memory_order_release);
  done_.store(0, std::memory_order_relaxed);
  ticket_.store(uint64_t{loop} << 32, std::memory_order_release);
  loops_.store(loop);
  loops_.notify_all();
  work_on(loop, 0);
  const auto finished = [this, count] { return done_.load(std::memory_order_acquire) == count; };
  while (!spin(finished)) std::this_thread::yield();  // the system took a worker's core away within a range
}

// The reader's side of the sequence lock: the fields are read between the ticket and the claim. If
// the ticket changed in between, the compare-exchange fails and they are read again. Until then
// begin may be wrong, and no more than compared: a worker may leave a loop too early, but never
// runs a wrong range.
void ThreadPool::work_on(uint32_t loop, int thread) {
  int32_t done = 0;  // told at the end, at once: each telling takes the line from another core
  uint64_t ticket = ticket_.load(std::memory_order_acquire);
  while (ticket >> 32 == loop) {
    const int32_t count = count_.load(std::memory_order_acquire), grain = grain_.load(std::memory_order_acquire);
    const Call call = call_.load(std::memory_order_acquire);
    const void* context = context_.load(std::memory_order_acquire);
    const auto begin = static_cast<int64_t>(ticket & kBeginBits);
    if (begin >= count) break;
    const auto left = static_cast<int32_t>(count - begin), size = std::min(left, std::max(grain, left / (2 * threads())));
    if (!ticket_.compare_exchange_weak(ticket, ticket + static_cast<uint32_t>(size), std::memory_order_acq_rel)) continue;
    call(context, static_cast<int32_t>(begin), static_cast<int32_t>(begin) + size, thread);
    done += size;
    ticket = ticket_.load(std::memory_order_acquire);
  }
  if (done > 0) done_.fetch_add(done, std::memory_order_release);
}

// A worker: spins for the next loop, then sleeps until loops_ changes.
void ThreadPool::serve(int thread) {
  uint32_t seen = 0;
  while (!stopping_) {
    if (!spin([&] { return loops_.load(std::memory_order_acquire) != seen; })) loops_.wait(seen);
    seen = loops_.load(std::memory_order_acquire);
    work_on(seen, thread);
  }
}

}  // namespace slipstream
