#include "common/model/cpu/thread_pool.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <mutex>
#include <utility>
#include <vector>

#include <pthread.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(ThreadPool, CoversEveryIndexOnceOverManyShortLoops) {
  for (const int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    std::vector<int> times(1000);
    for (int loop = 0; loop < 2000; ++loop) {
      pool.run(static_cast<int32_t>(1 + loop % 1000), 1 + loop % 7, [&](int32_t begin, int32_t end, int thread) {
        ASSERT_TRUE(thread >= 0 && thread < threads);
        for (int32_t i = begin; i < end; ++i) ++times[static_cast<size_t>(i)];
      });
    }
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(times[static_cast<size_t>(i)], 2 * (1000 - i)) << threads << " threads";
  }
}

// A worker that finds the end of a short loop must not take the longer one that is being set up for
// a continuation of it.
TEST(ThreadPool, KeepsALoopApartFromTheNext) {
  ThreadPool pool(3);
  std::array<std::atomic<int>, 64> times{};
  for (int loop = 0; loop < 400'000; ++loop) {
    const int32_t count = loop % 2 == 0 ? 2 : 64;
    pool.run(count, 1, [&](int32_t begin, int32_t end, int) {
      for (int32_t i = begin; i < end; ++i) ++times[static_cast<size_t>(i)];
    });
    for (int32_t i = 0; i < count; ++i) ASSERT_EQ(times[static_cast<size_t>(i)].exchange(0), 1) << "loop " << loop << ", " << i;
  }
}

// Half of a thread's share of what is left, and the grain at least.
TEST(ThreadPool, HandsOutFewRangesOfFallingSize) {
  ThreadPool pool(2);
  std::mutex mutex;
  std::vector<std::pair<int32_t, int32_t>> ranges;
  pool.run(100, 5, [&](int32_t begin, int32_t end, int) {
    const std::lock_guard lock(mutex);
    ranges.emplace_back(begin, end - begin);
  });
  std::ranges::sort(ranges);
  EXPECT_THAT(ranges,
              testing::ElementsAre(std::pair(0, 25), std::pair(25, 18), std::pair(43, 14), std::pair(57, 10), std::pair(67, 8),
                                   std::pair(75, 6), std::pair(81, 5), std::pair(86, 5), std::pair(91, 5), std::pair(96, 4)));
}

TEST(ThreadPool, WakesSleepingWorkers) {
  ThreadPool pool(2);
  for (int loop = 0; loop < 5; ++loop) {
    std::this_thread::sleep_for(3 * kSpinFor);  // long enough for the worker to park
    std::atomic<int> sum = 0;
    pool.run(100, 1, [&](int32_t begin, int32_t end, int) { sum += end - begin; });
    EXPECT_EQ(sum, 100);
  }
}

TEST(ThreadPoolDeathTest, SaysWhatToDoWhenThereAreNoThreadsLeft) {
  const auto without_memory_for_stacks = [] {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size_t{1} << 62);
    pthread_setattr_default_np(&attributes);
    ThreadPool pool(2);
  };
  EXPECT_DEATH(without_memory_for_stacks(), "1 of 2 compute threads .* fewer with --threads");
}

TEST(ThreadPool, BurnsNoCoreWhenIdle) {
  ThreadPool pool(3);
  pool.run(100, 1, [](int32_t, int32_t, int) {});
  std::this_thread::sleep_for(10 * kSpinFor);
  const std::clock_t before = std::clock();  // of the whole process
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 100);
}

}  // namespace
}  // namespace slipstream
