// Splits loops over a fixed number of threads, the caller's included. Which thread does which range
// is left to chance, so a body's result must not depend on it.
//
// Workers that find nothing to do spin for kSpinFor, then sleep: a forward pass is hundreds of
// short loops, and an idle verifier burns no core. One thread calls run(); bodies call nothing of
// the pool.
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

  // body(begin, end, thread) for disjoint ranges of at most `grain` that cover [0, count); returns
  // when all are done. thread: 0 .. threads() - 1, never twice at once.
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
  bool work_on(uint32_t loop, int thread);  // takes ranges until none is left; false: there was none

  // A loop is published by its number in the upper half of ticket_, its next range in the lower. A
  // thread reads ticket and fields, then claims a range by compare-exchange on the whole ticket.
  // The ticket is closed before the fields change and opened after (a sequence lock): if the claim
  // succeeds, the fields read are this loop's, and stay until its range is done.
  std::atomic<uint64_t> ticket_{0};
  std::atomic<int32_t> count_{0}, grain_{1};
  std::atomic<Call> call_{nullptr};
  std::atomic<const void*> context_{nullptr};
  alignas(64) std::atomic<int32_t> done_{0};    // ranges finished of the present loop
  alignas(64) std::atomic<uint32_t> loops_{0};  // number of the present loop; sleepers wait on it
  std::atomic<bool> stopping_{false};
  std::vector<std::jthread> workers_;
};

}  // namespace slipstream
