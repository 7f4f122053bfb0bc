// A short day under the chart's policy, and a longer one beside fixed pools (`make check`). The
// table of whole days is `make day`.
#include "tests/sim/day/day.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace slipstream::sim {
namespace {

DayPolicy scaled() {
  return {.name = "scaled",
          .verifiers = 2,
          .drafters = 1,
          .scale_verifiers = verifier_scaling(chart_values("verifier")),
          .scale_drafters = drafter_scaling(chart_values("drafterDefaults"))};
}

// One hour, so that all changes come 24 times as fast as in a day.
class ShortDay : public testing::Test {
 protected:
  static const DayReport& report() {
    static const DayReport report = live_day({.hours = 1, .peak_per_second = 3}, scaled(), 1);
    return report;
  }
  // Of the moments of some hours of the day.
  template <class Of>
  static auto most(double from, double to, const Of& of) {
    int most = 0;
    for (const Moment& moment : report().moments) {
      if (moment.hour >= from && moment.hour < to) most = std::max(most, of(moment));
    }
    return most;
  }
};

TEST_F(ShortDay, AnswersEveryRequestWholeWhileVerifiersComeAndGo) {
  EXPECT_GT(report().answers.size(), 3000);
  EXPECT_EQ(std::ranges::count_if(report().answers, [](const Answer& answer) { return !answer.whole(); }), 0);
  EXPECT_GT(report().changes[static_cast<size_t>(Kind::verifier)], 3);
}

TEST_F(ShortDay, HasMoreVerifiersInTheAfternoonThanAtNight) {
  const auto verifiers = [](const Moment& moment) { return moment.verifiers; };
  EXPECT_LE(most(0.5, 3, verifiers), 2);
  EXPECT_GE(most(13, 17, verifiers), 4);
}

TEST_F(ShortDay, HasNoDrafterWhileDraftsDoNotPayAndOneWhenTheyDo) {
  const auto drafters = [](const Moment& moment) { return moment.drafters; };
  EXPECT_GE(most(13, 20, drafters), 1);
  int none = 0;
  for (const Moment& moment : report().moments) none += moment.hour < 5 && moment.drafters == 0 ? 1 : 0;
  EXPECT_GE(none, 1);
}

double seconds(Time time) { return static_cast<double>(time.count()) * 1e-6; }

// Of the answers that came whole: the wait for the first token within which this share of them was.
double first_token_within(const DayReport& report, double share) {
  std::vector<double> waits;
  for (const Answer& answer : report.answers) {
    if (answer.whole()) waits.push_back(seconds(answer.first - answer.asked));
  }
  std::ranges::sort(waits);
  return waits[static_cast<size_t>(share * static_cast<double>(waits.size() - 1))];
}

TEST(DayLong, CostsHalfOfTheLargePoolAndTurnsAlmostNobodyAway) {
  const DayLoad load{.hours = 6};
  const DayReport pods = live_day(load, scaled(), 1),
                  fixed = live_day(load, {.name = "large", .verifiers = 8, .drafters = 4}, 1);
  const auto share = [](const DayReport& report, bool (*of)(const Answer&)) {
    return static_cast<double>(std::ranges::count_if(report.answers, of)) / static_cast<double>(report.answers.size());
  };
  for (const DayReport* report : {&pods, &fixed}) {
    EXPECT_EQ(share(*report, [](const Answer& answer) { return !answer.whole() && !answer.refused(); }), 0) << report->policy;
  }
  EXPECT_LT(share(pods, [](const Answer& answer) { return answer.refused(); }), 0.005);
  for (const Kind kind : {Kind::verifier, Kind::drafter}) {
    const auto at = static_cast<size_t>(kind);
    EXPECT_LT(pods.pod_hours[at], 0.5 * fixed.pod_hours[at]);
  }
  EXPECT_LT(first_token_within(pods, 0.95), 3 * first_token_within(fixed, 0.95));
}

}  // namespace
}  // namespace slipstream::sim
