#include "tools/slipstream/load/plan.h"

#include <gmock/gmock.h>

namespace slipstream::command::load {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

std::string problem(const LoadOptions& options) {
  const auto checked = check(options);
  return checked ? "none" : checked.error().message;
}

TEST(LoadFlags, ThatContradictEachOtherAreNamed) {
  EXPECT_EQ(problem({}), "none");
  EXPECT_THAT(problem({.streams = {1}, .rates = {1}}), HasSubstr("choose one load: --streams"));
  EXPECT_THAT(problem({.rates = {1}, .trace = "t"}), HasSubstr("choose one load"));
  EXPECT_THAT(problem({.arrivals = "bursts"}), HasSubstr("--arrivals bursts needs --rate"));
  EXPECT_THAT(problem({.trace = "t", .prompts = "p"}), HasSubstr("a trace has its own prompts"));
  EXPECT_THAT(problem({.speed = 2}), HasSubstr("--speed is for --trace"));
  EXPECT_THAT(problem({.system_file = "s", .shared_prefix = 5}), HasSubstr("choose one system prompt"));
  EXPECT_THAT(problem({.against_model = "m"}), HasSubstr("--against-model is for --against"));
  EXPECT_THAT(problem({.against = "http://a", .streams = {1, 2}}), HasSubstr("give one number of --streams"));
  EXPECT_THAT(problem({.against = "http://a", .requests = 5}), HasSubstr("less than one for each of 6 windows"));
  EXPECT_THAT(problem({.streams = std::vector<int>(kRunsMax + 1, 1)}), HasSubstr("a sweep has at most 32 runs"));
  EXPECT_THAT(problem({.fields = "x"}), HasSubstr("is no JSON object"));
}

TEST(PlannedRuns, AreOneForEachNumberOfStreams) {
  const auto runs = planned_runs({.streams = {1, 16}}, {});
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].name, "1 stream");
  EXPECT_EQ(runs[1].name, "16 streams");
  EXPECT_EQ(runs[1].plan.streams, 16);
  EXPECT_EQ(runs[1].offered, 16);
  EXPECT_FALSE(runs[1].plan.arrivals);
  EXPECT_EQ(runs[1].plan.time_max, seconds(30)) << "a run without an end ends by itself";
}

TEST(PlannedRuns, EndByRequestsOrTimeAsTold) {
  EXPECT_EQ(planned_runs({.requests = 5}, {}).front().plan.time_max, std::nullopt);
  const auto both = planned_runs({.requests = 5, .seconds = 2}, {}).front().plan;
  EXPECT_EQ(both.requests_max, 5u);
  EXPECT_EQ(both.time_max, seconds(2));
}

TEST(PlannedRuns, OfRatesAreOpenLoopsWithTheirOwnTimes) {
  const auto runs = planned_runs({.rates = {4, 0.5}, .arrivals = "bursts", .burst = 2, .in_flight = 7}, {});
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].name, "4 requests/s, bursts of 2");
  EXPECT_EQ(runs[1].name, "0.5 requests/s, bursts of 2");
  ASSERT_TRUE(runs[0].plan.arrivals);
  EXPECT_EQ(runs[0].plan.streams, 7);
  EXPECT_EQ(runs[1].offered, 0.5);
}

TEST(PlannedRuns, OfATraceEndWithIt) {
  const auto runs = planned_runs({.trace = "day.jsonl"}, {.times = {Offset(0), Offset(9)}});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].name, "trace day.jsonl");
  EXPECT_EQ(runs[0].plan.time_max, std::nullopt);
}

TEST(ComparisonWindow, HasItsPartOfTheWorkAndItsOwnRequests) {
  const auto run = planned_runs({.requests = 60, .seconds = 24}, {}).front();
  const auto first = window_of(run, 6, 0), second = window_of(run, 6, 1);
  EXPECT_EQ(first.plan.requests_max, 10u);
  EXPECT_EQ(first.plan.time_max, seconds(2));
  EXPECT_NE(first.plan.first_number, second.plan.first_number);
}

TEST(Mix, SaysInWordsWhatIsAsked) {
  const auto mix = read_mix({.shared_prefix = 100, .max_tokens = 9, .seed = 4, .fields = R"({"ignore_eos": true})"});
  ASSERT_TRUE(mix);
  EXPECT_THAT(mix->words, HasSubstr("8 prompts of ours, behind a shared system prompt of"));
  EXPECT_THAT(mix->words, HasSubstr("at most 9 tokens, temperature 0, seed 4, {\"ignore_eos\": true}"));
  EXPECT_EQ(read_mix({.prompts = "no/such/file"}).error().message, "cannot read no/such/file; is the path right?");
  EXPECT_THAT(read_mix({.system_file = "no/such/file"}).error().message, HasSubstr("is the path of --system-file right?"));
}

}  // namespace
}  // namespace slipstream::command::load
