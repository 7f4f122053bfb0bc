#include "tools/slipstream/load/report.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/slipstream/load/report_json.h"

namespace slipstream::command::load {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Sample answer(int late_ms = 0) {
  Sample sample;
  sample.ending = Ending::complete;
  sample.sent = milliseconds(late_ms);
  sample.chunks = {{milliseconds(late_ms + 20), 1}, {milliseconds(late_ms + 30), 1}};
  sample.ended = milliseconds(late_ms + 30);
  sample.tokens_in = 9;
  sample.tokens_out = 2;
  return sample;
}

Point point(std::string name, std::vector<Sample> samples, Objectives goals = {}) {
  Point point{.name = std::move(name), .tally = Tally(goals)};
  for (const Sample& sample : samples) point.tally.add(sample);
  point.tally.ran_for(std::chrono::seconds(2));
  return point;
}

Sample refused() {
  Sample sample;
  sample.ending = Ending::refused_429;
  sample.problem = "256 requests wait <already>";
  return sample;
}

TEST(LoadTables, LineUp) {
  const Point both = point("8 streams", {answer(), refused()}, {.ttft = milliseconds(25), .tpot = {}});
  EXPECT_EQ(count_table(both.tally).plain(),
            "                              count  per second   share\n"
            "requests                          2        1.00\n"
            "  complete                        1       0.500  50.0 %\n"
            "  refused (429)                   1       0.500  50.0 %\n"
            "  good: TTFT at most 25.0 ms      1       0.500  50.0 %\n"
            "tokens in                         9        4.50\n"
            "tokens out                        2        1.00\n");
  EXPECT_EQ(latency_table(both.tally).plain(),
            "ms             mean   p50   p90   p95   p99   max\n"
            "TTFT           20.0  20.0  20.0  20.0  20.0  20.0\n"
            "ITL, by chunk  10.0  10.0  10.0  10.0  10.0  10.0\n"
            "TPOT           10.0  10.0  10.0  10.0  10.0  10.0\n"
            "E2E            30.0  30.0  30.0  30.0  30.0  30.0\n");
}

TEST(LoadTables, HaveOneLineForEachRunOfASweep) {
  const std::vector points{point("1 stream", {answer()}), point("2 streams", {answer(), refused()})};
  EXPECT_THAT(sweep_table(points).plain(), AllOf(HasSubstr("\n1 stream "), HasSubstr("\n2 streams ")));
}

TEST(LoadRemarks, AreNoneWhenAllWentWell) { EXPECT_THAT(remarks(point("", {answer()})), IsEmpty()); }

TEST(LoadRemarks, SayThatTheGeneratorWasSlowAndBySoMuch) {
  EXPECT_THAT(remarks(point("", {answer(), answer(40)})),
              Contains(AllOf(HasSubstr("1 of 2 requests were sent more than 10 ms late, at most 40.0 ms"),
                             HasSubstr("This program was a bottleneck, too"))));
  Point busy = point("", {answer()});
  busy.generator_cores = 1.5;
  EXPECT_THAT(remarks(busy), Contains(HasSubstr("used 1.5 CPUs")));
}

TEST(LoadRemarks, CallNoBottleneckWhatHappensOnceInAHundredRequests) {
  std::vector<Sample> samples(99, answer());
  samples.push_back(answer(40));
  EXPECT_THAT(remarks(point("", samples)), Contains(AllOf(HasSubstr("1 of 100 requests were sent more than 10 ms late"),
                                                          HasSubstr("highest percentiles"), Not(HasSubstr("bottleneck")))));
  samples.push_back(answer(40));
  EXPECT_THAT(remarks(point("", samples)), Contains(AllOf(HasSubstr("2 of 101"), HasSubstr("bottleneck"))));
}

TEST(LoadRemarks, SayWhatFailedAndWhatCouldNotBeCounted) {
  Sample uncounted = answer();
  uncounted.tokens_out.reset();
  const auto lines = remarks(point("", {uncounted, refused()}));
  EXPECT_THAT(lines, Contains("1 x: 256 requests wait <already>"));
  EXPECT_THAT(lines, Contains(HasSubstr("without Retry-After: 1")));
  EXPECT_THAT(lines, Contains(HasSubstr("without usage: 1")));
}

TEST(LoadPage, NeedsNothingElseAndQuotesWhatTheServerSaid) {
  LoadReport report{.server = "http://a, model <m>", .points = {point("8 streams", {answer(), refused()})}, .stopped = true};
  const std::string text = html("slipstream load", page(report));
  EXPECT_THAT(text, AllOf(HasSubstr("<svg"), HasSubstr("prefers-color-scheme: dark"), HasSubstr("model &lt;m&gt;")));
  EXPECT_THAT(text,
              AllOf(Not(HasSubstr("src=")), Not(HasSubstr("href=")), Not(HasSubstr("<script")), Not(HasSubstr("<already>"))));
  EXPECT_THAT(plain(report), HasSubstr("The run was stopped before its end"));
}

TEST(LoadPage, OfASweepShowsWhatBecomesOfTheServerAsMoreIsAsked) {
  constexpr const char* kTitle = "as more is asked";
  LoadReport report{.points = {point("8 streams", {answer(), answer()}), point("1 stream", {answer()})},
                    .offered_unit = "streams"};
  report.points[0].offered = 8;
  report.points[1].offered = 1;
  const std::string text = html("", page(report));
  EXPECT_THAT(text, HasSubstr(kTitle));
  EXPECT_THAT(text, HasSubstr("points=\"64.0,135.0 670.0,30.0\"")) << "tokens/s from the least load to the greatest: 1 and 2";
  report.points.pop_back();
  EXPECT_THAT(html("", page(report)), Not(HasSubstr(kTitle)));
}

TEST(LoadJson, HasTheFiguresOfEachRun) {
  LoadReport report{.points = {point("8 streams", {answer(), refused()}, {.ttft = milliseconds(25), .tpot = {}})},
                    .ratios = {{"tokens/s out", Ratio{2, 1.5, 2.5, 6}}, {"E2E, mean", {}}}};
  const json whole = json::parse(load::json(report));
  const json& run = whole["runs"][0];
  EXPECT_EQ(run["requests"]["all"], 2);
  EXPECT_EQ(run["requests"]["complete"], 1);
  EXPECT_EQ(run["requests"]["refused_429"], 1);
  EXPECT_EQ(run["tokens"]["out"], 2);
  EXPECT_EQ(run["tokens_out_per_s"], 1.0);
  EXPECT_EQ(run["ms"]["ttft"]["p99"], 20.0);
  EXPECT_EQ(run["ms"]["itl_by_token"], nullptr);
  EXPECT_EQ(run["objectives"]["good"], 1);
  EXPECT_EQ(run["over_time"]["windows"].size(), 1u);
  EXPECT_EQ(whole["ratios"][0], (json{{"name", "tokens/s out"}, {"ratio", 2.0}, {"low", 1.5}, {"high", 2.5}, {"pairs", 6}}));
  EXPECT_EQ(whole["ratios"][1], (json{{"name", "E2E, mean"}}));
}

}  // namespace
}  // namespace slipstream::command::load
