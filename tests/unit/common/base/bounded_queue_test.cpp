#include "common/base/bounded_queue.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(BoundedQueue, GivesBackInOrder) {
  BoundedQueue<int> queue(2);
  EXPECT_TRUE(queue.push(1));
  EXPECT_TRUE(queue.push(2));
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), 2);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BoundedQueue, SaysNoWhenFull) {
  BoundedQueue<int> queue(1);
  EXPECT_TRUE(queue.push(1));
  EXPECT_FALSE(queue.push(2));
  queue.pop();
  EXPECT_TRUE(queue.push(3));
}

}  // namespace
}  // namespace slipstream
