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
