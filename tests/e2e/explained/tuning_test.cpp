// The router tunes how far drafters guess by what its workers export, and says what it decided.
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/support/cluster.h"

namespace slipstream::e2e {
namespace {

double of_router(const Cluster& cluster, const MetricName& metric) { return cluster.metrics("router").sum(metric.name); }

// The drafter is the target itself: always right, and as slow. Whatever it is worth on this
// machine, an h of 0.1, which was set by hand, is not it. Another h may be decided once only, and a
// request hears of it while it is live, so there is a live one always: of unlike lengths they do
// not end together.
TEST(TuningEndToEnd, ADecisionIsMadeAndExported) {
  Cluster cluster(tiny_model_with_room());
  cluster.start_router({"--tune", "on", "--deadline-us", "1000000", "--threshold", "0.1"});
  cluster.start_verifier(verify_every_draft());
  cluster.start_drafter({"--method", "small-lm"});
  cluster.wait_ready();
  cluster.wait_drafter();
  cluster.model_name();  // the streams below find it asked for
  {
    std::vector<std::jthread> streams;
    for (const int tokens : {2000, 3000, 4500}) {
      streams.emplace_back([&cluster, tokens](const std::stop_token& stop) {
        while (!stop.stop_requested()) cluster.ask({.text = "a b", .tokens_max = tokens, .more = kNoEnd});
      });
    }
    cluster.wait("a live request to hear of another h", [&] { return of_router(cluster, metric::kRouterRetunes) > 0; });
  }
  const Samples router = cluster.metrics("router");
  EXPECT_GT(router.sum(metric::kRouterThresholdChanges.name), 0);
  EXPECT_GE(router.sum(metric::kRouterTuningVersion.name), 1);
  EXPECT_EQ(router.sum(metric::kRouterTuningReason.name), 1) << "it has one reason";
  EXPECT_GT(router.sum(metric::kRouterTuningNodes.name), 0);
  EXPECT_EQ(router.sum(metric::kRouterReadings.name, {"outcome=\"unreadable\""}), 0);
  EXPECT_EQ(router.sum(metric::kRouterReadings.name, {"outcome=\"refused\""}), 0);

  const auto page = cluster.page("router", "/tuning");
  ASSERT_EQ(page.status, 200);
  const auto json = nlohmann::json::parse(page.body);
  EXPECT_NEAR(json["first_threshold"].get<double>(), 0.1, 1e-6);
  ASSERT_EQ(json["kinds"].size(), 1u) << page.body;
  EXPECT_EQ(json["kinds"][0]["method"], "small-lm");
  EXPECT_GT(json["kinds"][0]["depths"]["1"]["accepted"].get<double>(), 0.5);
  EXPECT_NE(cluster.page("router", "/").body.find("tuning: where drafters stop (h)\n  small-lm"), std::string::npos);
}

TEST(TuningEndToEnd, OffIsAFixedThreshold) {
  Cluster cluster(tiny_model());
  cluster.start_router({"--threshold", "0.25"});
  cluster.start_verifier(free_draft_nodes());
  cluster.start_drafter({"--method", "ngram"});
  cluster.wait_ready();
  cluster.wait_drafter();
  cluster.ask({.text = "a b a b a b", .tokens_max = 40});
  EXPECT_EQ(of_router(cluster, metric::kRouterReadings), 0) << "nobody was asked";
  EXPECT_EQ(of_router(cluster, metric::kRouterThresholdChanges), 0);
}

}  // namespace
}  // namespace slipstream::e2e
