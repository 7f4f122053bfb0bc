#include "services/router/drain.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

using namespace std::chrono_literals;

TEST(RouterDrain, TellsHowManyAnswersGoOnAndForHowLong) {
  EXPECT_EQ(told_to_stop(3, 25s), "told to stop: 3 answers go on, for at most 25000 ms (--drain-ms)");
  EXPECT_EQ(told_to_stop(1, 5ms), "told to stop: 1 answer goes on, for at most 5 ms (--drain-ms)");
  EXPECT_EQ(told_to_stop(0, 25s), "told to stop: no answer is under way");
}

// Three of the six finish, two by themselves and one at its length; one loses its client; two are
// cut. What came before, and what was refused meanwhile, is not told of.
TEST(RouterDrain, TellsWhatBecameOfThem) {
  const RouterCounters told{.stopped = 10, .length = 5, .abandoned = 3, .failed = 1, .waiting = 2, .live = 4};
  const RouterCounters now{.stopped = 12, .length = 6, .abandoned = 4, .failed = 3, .refused = 7, .cut = 2};
  EXPECT_EQ(stopped(told, now), "stopped: of the 6 under way 3 finished, 1 failed or lost their client, 2 cut");
  EXPECT_EQ(stopped({.stopped = 9}, {.stopped = 9}), "stopped");
}

}  // namespace
}  // namespace slipstream
