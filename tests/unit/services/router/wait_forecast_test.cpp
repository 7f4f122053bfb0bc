#include "services/router/wait_forecast.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class WaitForecastTest : public testing::Test {
 protected:
  // Time passes while the places stay as they are; one becomes free at each of these gaps.
  void passes(Time duration, Places places, std::optional<Time> freed_each = std::nullopt) {
    forecast.observe(places, now);
    Time next = now + freed_each.value_or(duration + Time(1));
    for (const Time end = now + duration; now < end;) {
      now += milliseconds(50);
      forecast.observe(places, now);
      if (freed_each && now >= next) forecast.freed(), next += *freed_each;
    }
  }
  double expected(size_t ahead) const { return std::chrono::duration<double>(forecast.expected(ahead).value()).count(); }

  WaitForecast forecast;
  Time now{};
};

constexpr Places kFull{.all = 10, .full = true};
constexpr Places kRoom{.all = 10, .full = false};

TEST_F(WaitForecastTest, SaysNothingWhileNoVerifierIsThere) {
  EXPECT_EQ(forecast.expected(0), std::nullopt);
  passes(seconds(5), kFull, milliseconds(100));
  passes(seconds(1), {.all = 0, .full = true});
  EXPECT_EQ(forecast.expected(3), std::nullopt);
}

TEST_F(WaitForecastTest, IsNoWaitWhileAVerifierHasRoom) {
  passes(seconds(5), kFull, milliseconds(100));
  passes(seconds(1), kRoom);
  EXPECT_EQ(forecast.expected(50), Time(0));
}

TEST_F(WaitForecastTest, OfAFirstRushBeginsWithNoWaitAndGrowsWhileNothingEnds) {
  forecast.observe(kFull, now);
  EXPECT_EQ(forecast.expected(50), Time(0));
  passes(seconds(1), kFull);
  EXPECT_NEAR(expected(0), 1, 0.1);
  EXPECT_NEAR(expected(9), 10, 1);
  passes(seconds(2), kFull);
  EXPECT_NEAR(expected(9), 33, 3);
}

TEST_F(WaitForecastTest, IsTheTimeInWhichThePlacesAheadAndOnePlaceMoreBecomeFree) {
  passes(seconds(60), kFull, milliseconds(100));
  EXPECT_NEAR(expected(0), 0.1, 0.01);
  EXPECT_NEAR(expected(49), 5, 0.3);
}

TEST_F(WaitForecastTest, CountsOnlyTheTimeInWhichAllPlacesAreTaken) {
  passes(seconds(60), kFull, milliseconds(100));
  passes(seconds(600), kRoom, seconds(30));
  passes(milliseconds(50), kFull);
  EXPECT_NEAR(expected(9), 1, 0.1);
}

TEST_F(WaitForecastTest, FollowsVerifiersThatComeAndGoAtOnce) {
  passes(seconds(60), kFull, milliseconds(100));
  forecast.observe({.all = 20, .full = true}, now);
  EXPECT_NEAR(expected(9), 0.5, 0.05);
  forecast.observe({.all = 5, .full = true}, now);
  EXPECT_NEAR(expected(9), 2, 0.2);
}

TEST_F(WaitForecastTest, FollowsAnswersThatGetLonger) {
  passes(seconds(60), kFull, milliseconds(100));
  passes(seconds(100), kFull, seconds(1));
  EXPECT_NEAR(expected(9), 10, 1.5);
}

TEST_F(WaitForecastTest, CountsLittleOfATimeInWhichTheRouterDidNotRun) {
  passes(seconds(60), kFull, milliseconds(100));
  now += seconds(300);
  forecast.observe(kFull, now);
  EXPECT_NEAR(expected(9), 1, 0.15);
}

TEST_F(WaitForecastTest, StaysANumberWhenNothingEndsForHours) {
  for (int second = 0; second < 10'000; ++second) forecast.observe(kFull, now += seconds(1));
  EXPECT_GT(expected(0), 60);
  EXPECT_LE(expected(10'000), 24 * 3600);
}

}  // namespace
}  // namespace slipstream
