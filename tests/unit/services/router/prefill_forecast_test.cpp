#include "services/router/prefill_forecast.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class PrefillForecastTest : public testing::Test {
 protected:
  // Time passes while so many prompts of 100 tokens are awaited. So many a second are prefilled,
  // and as many others come.
  void passes(Time duration, int32_t prompts, int each_second = 0, int32_t verifiers = 1) {
    const Awaited awaited{.prompts = prompts, .tokens = 100 * prompts};
    forecast.observe(awaited, verifiers, now);
    for (const Time end = now + duration; now < end;) {
      now += milliseconds(100);
      forecast.prefilled(10 * each_second);
      forecast.observe(awaited, verifiers, now);
    }
  }
  double expected() const { return std::chrono::duration<double>(forecast.expected()).count(); }

  PrefillForecast forecast;
  Time now{};
};

TEST_F(PrefillForecastTest, IsNoWaitWhileFewPromptsAreAwaited) {
  passes(seconds(60), 4);
  EXPECT_EQ(expected(), 0);
  passes(seconds(60), 8, 0, 2);
  EXPECT_EQ(expected(), 0) << "four for each of two verifiers";
}

TEST_F(PrefillForecastTest, BeginsEachBacklogWithNoWait) {
  passes(milliseconds(0), 60);
  EXPECT_EQ(expected(), 0);
  passes(seconds(5), 60);
  EXPECT_GT(expected(), 60);
  passes(seconds(1), 2);
  passes(milliseconds(0), 60);
  EXPECT_EQ(expected(), 0);
}

TEST_F(PrefillForecastTest, GrowsWhileNothingIsPrefilled) {
  passes(seconds(1), 10);
  EXPECT_NEAR(expected(), 10, 1) << "at most one of ten was prefilled in that second";
  passes(seconds(1), 10);
  EXPECT_NEAR(expected(), 19, 2);
}

TEST_F(PrefillForecastTest, IsTheTimeThatThePromptsBeforeItTake) {
  passes(seconds(30), 50, 10);
  EXPECT_NEAR(expected(), 5, 0.2);
}

TEST_F(PrefillForecastTest, FollowsPromptsThatTakeLonger) {
  passes(seconds(60), 50, 10);
  passes(seconds(100), 50, 2);
  EXPECT_NEAR(expected(), 25, 3);
}

TEST_F(PrefillForecastTest, CountsLittleOfATimeInWhichTheRouterDidNotRun) {
  passes(seconds(60), 50, 10);
  now += seconds(300);
  forecast.observe({.prompts = 50, .tokens = 5000}, 1, now);
  EXPECT_NEAR(expected(), 5, 0.8);
}

}  // namespace
}  // namespace slipstream
