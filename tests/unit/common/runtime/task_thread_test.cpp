#include "common/runtime/task_thread.h"

#include <latch>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(TaskThread, RunsTasksInOrderOnAThreadOfItsOwn) {
  std::latch ran(3);
  std::vector<int> order;
  std::thread::id where;
  TaskThread thread(3);
  for (int task : {1, 2, 3}) {
    EXPECT_TRUE(thread.post([&, task] {
      order.push_back(task);
      where = std::this_thread::get_id();
      ran.count_down();
    }));
  }
  ran.wait();
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST(TaskThread, RefusesOneTaskMoreThanMayWait) {
  std::latch begun(1), go(1), last(1);
  TaskThread thread(1);
  EXPECT_TRUE(thread.post([&] {
    begun.count_down();
    go.wait();
  }));
  begun.wait();  // it no longer waits
  EXPECT_TRUE(thread.post([&] { last.count_down(); }));
  EXPECT_FALSE(thread.post([] { ADD_FAILURE() << "a refused task ran"; }));
  go.count_down();
  last.wait();
  EXPECT_TRUE(thread.post([] {}));
}

TEST(TaskThread, TakesWhatIsBoundedElsewhereHoweverManyWait) {
  std::latch begun(1), go(1), last(2);
  TaskThread thread(1);
  EXPECT_TRUE(thread.post([&] {
    begun.count_down();
    go.wait();
  }));
  begun.wait();
  EXPECT_TRUE(thread.post([&] { last.count_down(); }));
  EXPECT_TRUE(thread.post_unbounded([&] { last.count_down(); }));
  EXPECT_FALSE(thread.post([] { ADD_FAILURE() << "a refused task ran"; }));
  go.count_down();
  last.wait();
  thread.close();
  EXPECT_FALSE(thread.post_unbounded([] { ADD_FAILURE() << "a closed thread ran a task"; }));
}

TEST(TaskThread, LetsThoseWhoPostTakeTurns) {
  std::latch begun(1), go(1), ran(5);
  std::vector<int> order;
  TaskThread thread(5);
  EXPECT_TRUE(thread.post([&] {
    begun.count_down();
    go.wait();
  }));
  begun.wait();
  const auto post = [&](int task, uint64_t by) {
    EXPECT_TRUE(thread.post(
        [&, task] {
          order.push_back(task);
          ran.count_down();
        },
        by));
  };
  for (const int task : {1, 2, 3}) post(task, 7);
  post(4, 8);
  post(5, 9);
  go.count_down();
  ran.wait();
  EXPECT_EQ(order, (std::vector{1, 4, 5, 2, 3}));
}

TEST(TaskThread, GivesTheTurnOfATaskThatIsOverToItsPostersNextOne) {
  std::latch begun(1), go(1), ran(3);
  std::vector<int> order;
  TaskThread thread(5);
  EXPECT_TRUE(thread.post([&] {
    begun.count_down();
    go.wait();
  }));
  begun.wait();
  const auto post = [&](int task, uint64_t by, bool over) {
    EXPECT_TRUE(thread.post(
        [&, task] {
          order.push_back(task);
          ran.count_down();
        },
        by, [over] { return over; }));
  };
  for (const int task : {1, 2}) post(task, 7, true);
  post(3, 7, false);
  post(4, 8, false);
  post(5, 9, false);
  go.count_down();
  ran.wait();
  EXPECT_EQ(order, (std::vector{3, 4, 5}));
}

TEST(TaskThread, RefusesOneTaskMoreOfAPosterThanMayWait) {
  std::latch begun(1), go(1);
  TaskThread thread({.waiting_max = 3, .of_one_max = 1});
  EXPECT_TRUE(thread.post([&] {
    begun.count_down();
    go.wait();
  }));
  begun.wait();
  EXPECT_TRUE(thread.post([] {}, 7));
  EXPECT_FALSE(thread.post([] {}, 7));
  EXPECT_TRUE(thread.post([] {}, 8)) << "others still may";
  EXPECT_TRUE(thread.post([] {}, 9));
  EXPECT_FALSE(thread.post([] {}, 10)) << "but not more than all together";
  go.count_down();
}

TEST(TaskThread, EndsTheTaskAtHandAndDropsThoseThatWaitWhenClosed) {
  std::latch begun(1), dropped(1);
  bool ended = false, ran = false;
  TaskThread thread(1);
  EXPECT_TRUE(thread.post([&] {
    begun.count_down();
    dropped.wait();
    ended = true;
  }));
  begun.wait();
  EXPECT_TRUE(thread.post([&, held = std::shared_ptr<void>(nullptr, [&](auto) { dropped.count_down(); })] { ran = true; }));
  thread.close();
  EXPECT_TRUE(ended);
  EXPECT_FALSE(ran);
  EXPECT_FALSE(thread.post([] {}));
}

}  // namespace
}  // namespace slipstream
