#include "tests/sim/day/keda.h"

#include <vector>

#include <gtest/gtest.h>

namespace slipstream::sim {
namespace {

// Looks each 15 s with the same values for so many seconds; returns the replicas at the end.
int keep(Keda& keda, double& now, double seconds, const std::vector<double>& values) {
  for (const double end = now + seconds; now < end; now += 15) {
    if (keda.due(now)) keda.look(now, values);
  }
  return keda.replicas();
}

TEST(Keda, GoesUpAtOnceAndAtMostToTheDoubleOrByFour) {
  Keda keda({.least = 2, .most = 40}, 2);
  double now = 0;
  EXPECT_EQ(keep(keda, now, 15, {30, 1}), 6);
  EXPECT_EQ(keep(keda, now, 15, {30, 1}), 12);
  EXPECT_EQ(keep(keda, now, 30, {30, 1}), 30);
  EXPECT_EQ(keep(keda, now, 15, {99, 1}), 40);
}

TEST(Keda, LeavesATenthMoreOrLessAlone) {
  Keda keda({.least = 1, .most = 40}, 10);
  double now = 0;
  EXPECT_EQ(keep(keda, now, 600, {10.9}), 10);
  EXPECT_EQ(keep(keda, now, 600, {9.1}), 10);
  EXPECT_EQ(keep(keda, now, 600, {11.1}), 12);
}

TEST(Keda, GoesDownOnlyToTheMostOfTheLastMinutes) {
  Keda keda({.least = 1, .most = 40, .down_window = 300}, 10);
  double now = 0;
  keep(keda, now, 60, {10});
  EXPECT_EQ(keep(keda, now, 60, {4}), 10);
  EXPECT_EQ(keep(keda, now, 120, {7}), 10);
  EXPECT_EQ(keep(keda, now, 180, {3}), 7);
  EXPECT_EQ(keep(keda, now, 300, {3}), 3);
}

TEST(Keda, GoesToZeroAfterTheCooldownAndBackAtOnePoll) {
  Keda keda({.least = 0, .most = 4, .polling = 15, .cooldown = 120, .down_window = 0}, 3);
  double now = 0;
  EXPECT_EQ(keep(keda, now, 60, {3, 0}), 3);
  EXPECT_EQ(keep(keda, now, 105, {0, 0}), 1) << "the autoscaler's own least is one";
  EXPECT_EQ(keep(keda, now, 45, {0, 0}), 0);
  EXPECT_EQ(keep(keda, now, 15, {0, 1}), 1) << "either trigger wakes it";
  EXPECT_EQ(keep(keda, now, 15, {3, 0}), 3);
}

TEST(Keda, NeverGoesToZeroWhereTheLeastIsMore) {
  Keda keda({.least = 2, .most = 4, .cooldown = 60, .down_window = 0}, 4);
  double now = 0;
  EXPECT_EQ(keep(keda, now, 3600, {0, 0}), 2);
}

}  // namespace
}  // namespace slipstream::sim
