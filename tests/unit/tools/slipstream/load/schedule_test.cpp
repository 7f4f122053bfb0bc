#include "tools/slipstream/load/schedule.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace slipstream::command::load {
namespace {

double seconds(Offset offset) { return std::chrono::duration<double>(offset).count(); }

std::vector<double> first(Schedule schedule, size_t count) {
  std::vector<double> times;
  for (size_t i = 0; i < count; ++i) times.push_back(seconds(*schedule.next()));
  return times;
}

TEST(Schedule, OfOneSeedIsTheSameAgainAndOfAnotherIsNot) {
  const OpenLoop loop{.rate_per_s = 10, .seed = 7};
  EXPECT_EQ(first(Schedule::of(loop), 100), first(Schedule::of(loop), 100));
  EXPECT_NE(first(Schedule::of(loop), 100), first(Schedule::of({.rate_per_s = 10, .seed = 8}), 100));
}

// Each of the three has its rate; a Poisson process has gaps whose deviation is their mean.
TEST(Schedule, KeepsItsRateWhateverTheProcess) {
  constexpr size_t kCount = 40'000;
  for (const auto process : {ArrivalProcess::poisson, ArrivalProcess::even, ArrivalProcess::bursts}) {
    const auto times = first(Schedule::of({.process = process, .rate_per_s = 50, .burst = 4, .seed = 3}), kCount);
    EXPECT_NEAR(times.back() / kCount, 1.0 / 50, 0.03 / 50) << static_cast<int>(process);
  }
}

TEST(Schedule, OfPoissonHasGapsThatAreExponential) {
  const auto times = first(Schedule::of({.rate_per_s = 100, .seed = 5}), 40'000);
  double longer_than_mean = 0, squares = 0;
  for (size_t i = 1; i < times.size(); ++i) {
    const double gap = 100 * (times[i] - times[i - 1]);
    if (gap > 1) ++longer_than_mean;
    squares += gap * gap;
  }
  EXPECT_NEAR(longer_than_mean / 40'000, std::exp(-1), 0.01);
  EXPECT_NEAR(squares / 40'000, 2, 0.1);
}

TEST(Schedule, OfBurstsSendsEachGroupAtOneInstant) {
  const auto times = first(Schedule::of({.process = ArrivalProcess::bursts, .rate_per_s = 10, .burst = 3, .seed = 1}), 9);
  for (size_t group = 0; group < 9; group += 3) {
    EXPECT_EQ(times[group], times[group + 1]);
    EXPECT_EQ(times[group], times[group + 2]);
    if (group > 0) {
      EXPECT_GT(times[group], times[group - 1]);
    }
  }
}

TEST(Schedule, OfEvenGapsDoesNotDrift) {
  const auto times = first(Schedule::of({.process = ArrivalProcess::even, .rate_per_s = 3}), 3'000'001);
  EXPECT_EQ(times.front(), 0);
  EXPECT_NEAR(times.back(), 1'000'000, 1e-6);
}

TEST(Schedule, OfATraceEndsWithIt) {
  Schedule schedule = Schedule::replay({Offset(0), Offset(5), Offset(5)});
  EXPECT_EQ(schedule.next(), Offset(0));
  EXPECT_EQ(schedule.next(), Offset(5));
  EXPECT_EQ(schedule.next(), Offset(5));
  EXPECT_EQ(schedule.next(), std::nullopt);
  EXPECT_EQ(schedule.next(), std::nullopt);
}

}  // namespace
}  // namespace slipstream::command::load
