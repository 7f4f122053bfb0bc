// What `slipstream load` reports is what the router's own metrics say, after an interrupt too.
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/support/load_command.h"

namespace slipstream::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

double complete_answers(const Samples& router) {
  return router.sum(metric::kRouterRequests.name, {R"(outcome="stop")"}) +
         router.sum(metric::kRouterRequests.name, {R"(outcome="length")"});
}

TEST(LoadCounts, AreThoseOfTheRouter) {
  Cluster cluster(tiny_model());
  cluster.start_all("ngram");
  LoadCommand load(cluster, {"--streams", "2,8", "--requests", "60", "--max-tokens", "24", "--temperature", "0.8"});
  EXPECT_EQ(load.wait(), 0) << load.said();
  const json runs = load.report()["runs"];
  ASSERT_EQ(runs.size(), 2u);
  double requests = 0, in = 0, out = 0;
  for (const json& run : runs) {
    EXPECT_EQ(run["requests"]["complete"], 60);
    EXPECT_EQ(run["ms"]["e2e"]["count"], 60);
    EXPECT_EQ(run["answers_without_usage"], 0);
    requests += run["requests"]["all"].get<double>();
    in += run["tokens"]["in"].get<double>();
    out += run["tokens"]["out"].get<double>();
  }
  const Samples router = cluster.metrics("router");
  EXPECT_EQ(requests, complete_answers(router));
  EXPECT_EQ(in, router.sum(metric::kRouterPromptTokens.name));
  EXPECT_EQ(out, router.sum(metric::kRouterOutputTokens.name));
  EXPECT_THAT(load.said(), HasSubstr("8 streams"));
  EXPECT_THAT(load.page(), HasSubstr("<svg"));
  EXPECT_THAT(load.page(), Not(HasSubstr("src=")));
}

TEST(LoadCounts, AreReportedWhenTheRunIsInterrupted) {
  Cluster cluster(tiny_model_with_room());
  cluster.start_all("none");
  LoadCommand load(cluster, {"--streams", "4", "--seconds", "3600", "--max-tokens", "1000", "--fields", kNoEnd});
  // A stream asks again when it has read its answer: of eight that the router ended, at least four
  // were read.
  cluster.wait("some answers to end", [&] { return complete_answers(cluster.metrics("router")) >= 8; });
  load.signal(SIGINT);
  EXPECT_EQ(load.wait(), 0) << load.said();
  const json report = load.report();
  EXPECT_EQ(report["stopped"], true);
  EXPECT_GE(report["runs"][0]["requests"]["complete"], 4);
  EXPECT_EQ(report["runs"][0]["tokens"]["out"].get<int>(), 1000 * report["runs"][0]["requests"]["complete"].get<int>());
  EXPECT_THAT(load.said(), HasSubstr("The run was stopped before its end"));
}

}  // namespace
}  // namespace slipstream::e2e
