#include "common/actor/backoff.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, DoublesUpToTheLongestAndStaysThere) {
  Backoff wait(300ms, 1s);
  EXPECT_EQ(wait.next(), 300ms);
  EXPECT_EQ(wait.next(), 600ms);
  EXPECT_EQ(wait.next(), 1s);
  EXPECT_EQ(wait.next(), 1s);
}

TEST(Backoff, BeginsAnewOnceItIsAnswered) {
  Backoff wait(300ms, 1s);
  wait.next();
  wait.next();
  wait.reset();
  EXPECT_EQ(wait.next(), 300ms);
}

}  // namespace
}  // namespace slipstream
