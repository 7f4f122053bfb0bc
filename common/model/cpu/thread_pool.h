// Splits loops over a fixed number of threads, including the caller's. Threads claim ranges as they
// get free, so a body's result must not depend on which thread runs which range.
//
// A worker without work spins for kSpinFor, then sleeps. A forward pass is hundreds of short loops,
// between which sleeping would cost too much; an idle verifier, on the other hand, uses no core.
//
// Threads: one thread at a time calls run(). Bodies must not call the pool.
//
//   pool.run(rows, 16, [&](int32_t begin, int32_t end, int thread) { ... rows [begin, end) ... });
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace slipstream {

inline constexpr int kComputeThreadsMax = 64;
inline constexpr std::chrono::microseconds kSpinFor{100};

class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls body(begin, end, thread) for disjoint ranges that cover [0, count), and returns when all
  // calls have returned. A range is half of a thread's share of what is left, and `grain` at least:
  // few claims, and an end for all threads together. thread: in [0, threads()), never in two calls
  // at once.
  template <class Body>
  void run(int32_t count, int32_t grain, const Body& body) {
    if (count <= grain || workers_.empty()) {
      if (count > 0) body(0, count, 0);
      return;
    }
    split(
        count, grain,
        [](const void* context, int32_t begin, int32_t end, int thread) {
          (*static_cast<const Body*>(context))(begin, end, thread);
        },
        &body);
  }

 private:
  using Call = void (*)(const void* context, int32_t begin, int32_t end, int thread);
  void split(int32_t count, int32_t grain, Call call, const void* context);
  void serve(int thread);
  void work_on(uint32_t loop, int thread);  // runs ranges until none is left

  // ticket_ holds the number of the present loop (upper half) and where its next range begins.
  //   publish   close the ticket (no range left), write the fields below, open the ticket at 0
  //   claim     read the ticket, read the fields, compare-exchange the ticket to the end of the range
  // This is a sequence lock: if the claim succeeds, the fields that were read belong to this loop.
  // They stay until the claimed range is done, because split() returns only then.
  std::atomic<uint64_t> ticket_{0};
  std::atomic<int32_t> count_{0}, grain_{1};
  std::atomic<Call> call_{nullptr};
  std::atomic<const void*> context_{nullptr};
  alignas(64) std::atomic<int32_t> done_{0};    // what is done of [0, count) by threads that found no further range
  alignas(64) std::atomic<uint32_t> loops_{0};  // number of the present loop; sleepers wait on it
  std::atomic<bool> stopping_{false};
  std::vector<std::jthread> workers_;
};

}  // namespace slipstream
