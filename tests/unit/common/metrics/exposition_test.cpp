#include "common/metrics/exposition.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/metrics/build_info.h"
#include "tests/unit/common/metrics/promtool.h"

namespace slipstream {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr MetricName kTurns{"slipstream_test_turns_total", "Turns, by side."};
constexpr MetricName kHeight{"slipstream_test_height_meters", "Height now."};
constexpr MetricName kWait{"slipstream_test_wait_seconds", "Time waited."};

TEST(Exposition, WritesAnEmptyPageForNothing) { EXPECT_EQ(Exposition().text(), ""); }

TEST(Exposition, WritesACounterWithItsTypeAndHelp) {
  Exposition page;
  page.counter(kTurns, 3);
  EXPECT_EQ(page.text(),
            "# HELP slipstream_test_turns_total Turns, by side.\n"
            "# TYPE slipstream_test_turns_total counter\n"
            "slipstream_test_turns_total 3\n");
}

TEST(Exposition, MergesAFamilyThatComesInPieces) {
  Exposition page;
  page.counter(kTurns, 1, {{"side", "left"}});
  page.gauge(kHeight, 2.5);
  page.counter(kTurns, 2, {{"side", "right"}});
  EXPECT_EQ(page.text(),
            "# HELP slipstream_test_turns_total Turns, by side.\n"
            "# TYPE slipstream_test_turns_total counter\n"
            "slipstream_test_turns_total{side=\"left\"} 1\n"
            "slipstream_test_turns_total{side=\"right\"} 2\n"
            "# HELP slipstream_test_height_meters Height now.\n"
            "# TYPE slipstream_test_height_meters gauge\n"
            "slipstream_test_height_meters 2.5\n");
}

TEST(Exposition, CountsBucketsCumulatively) {
  Histogram<3> waits{{.25, .5, 1}};
  for (double wait : {.1, .25, .3, .75, 4.0, 8.0}) waits.observe(wait);
  Exposition page;
  page.histogram(kWait, waits, {{"who", "me"}});
  EXPECT_THAT(page.text(), AllOf(HasSubstr("slipstream_test_wait_seconds_bucket{who=\"me\",le=\"0.25\"} 2\n"),
                                 HasSubstr("slipstream_test_wait_seconds_bucket{who=\"me\",le=\"0.5\"} 3\n"),
                                 HasSubstr("slipstream_test_wait_seconds_bucket{who=\"me\",le=\"1\"} 4\n"),
                                 HasSubstr("slipstream_test_wait_seconds_bucket{who=\"me\",le=\"+Inf\"} 6\n"),
                                 HasSubstr("slipstream_test_wait_seconds_count{who=\"me\"} 6\n"),
                                 HasSubstr("slipstream_test_wait_seconds_sum{who=\"me\"} 13.4\n")));
}

TEST(Exposition, WritesBucketLimitsAsTheyWereWritten) {
  Exposition page;
  page.histogram(kWait, Histogram<4>{{.00005, .0001, .003, .1}});
  EXPECT_THAT(page.text(), AllOf(HasSubstr("le=\"0.0001\""), HasSubstr("le=\"0.003\""), HasSubstr("le=\"0.1\"")));
}

TEST(Exposition, EscapesLabelValues) {
  Exposition page;
  page.counter(kTurns, 1, {{"side", "a\"b\\c\nd"}});
  EXPECT_THAT(page.text(), HasSubstr("{side=\"a\\\"b\\\\c\\nd\"} 1\n"));
  EXPECT_THAT(promtool_complaints(page.text()), IsEmpty());
}

TEST(Exposition, WritesLargeCountsWithoutLosingOne) {
  Exposition page;
  page.counter(kTurns, 9007199254740991.0);  // 2^53 - 1: the last count that a double can follow
  EXPECT_THAT(page.text(), HasSubstr(" 9007199254740991\n"));
}

TEST(Exposition, SaysWhatRuns) {
  Exposition page;
  add_build_info("verifier", "cpu/portable", page);
  EXPECT_THAT(page.text(), AllOf(HasSubstr("slipstream_build_info{role=\"verifier\",version=\"0."),
                                 HasSubstr("numerics=\"cpu/portable\"} 1\n"), Not(HasSubstr("commit=\"\""))));
  EXPECT_THAT(promtool_complaints(page.text()), IsEmpty());
}

TEST(Exposition, WouldHearPromtoolComplain) {
  Exposition page;
  page.counter({"slipstream_test_turns", "A counter that does not say so."}, 1);
  EXPECT_THAT(promtool_complaints(page.text()), HasSubstr("_total"));
}

}  // namespace
}  // namespace slipstream
