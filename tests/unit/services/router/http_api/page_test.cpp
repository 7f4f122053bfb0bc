#include "services/router/http_api/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "services/router/http_api/tuning_page.h"
#include "services/router/http_api/workers_page.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

TEST(StatePage, NamesEachWorkerAsTheLogsDoAndWhereItIs) {
  RouterCounters counters;
  counters.workers = std::make_shared<const std::vector<WorkerFacts>>(std::vector<WorkerFacts>{
      {.role = Role::verifier,
       .incarnation = 0x47f6b1a3d36fcdac,
       .pid = 71,
       .what = "cpu",
       .metrics_endpoint = "http://127.0.0.1:1/metrics",
       .assigned = 3},
      {.role = Role::drafter,
       .incarnation = 0x0066,
       .what = "ngram",
       .draft_endpoint = "tcp://127.0.0.1:7301",
       .metrics_endpoint = "http://127.0.0.1:2/metrics",
       .greedy_gain = 0.5,
       .silent = true},
  });
  const std::string page = state_page("0bad, pid 70", "demo", "http://127.0.0.1:8080", counters);
  EXPECT_THAT(page, HasSubstr("Slipstream router 0bad, pid 70\n"));
  EXPECT_THAT(page, HasSubstr("verifier 47f6b1a3d36fcdac  pid 71  ready      3 sequences  cpu  http://127.0.0.1:1/metrics\n"));
  EXPECT_THAT(page, HasSubstr("drafter  0000000000000066  pid not told  silent     0 sequences  ngram at tcp://127.0.0.1:7301  "
                              "http://127.0.0.1:2/metrics\n           an ask wins 0.50 tokens of greedy requests\n"));
}

TEST(WorkersPage, ListsEachWorkerWithItsStateAndItsPage) {
  RouterCounters counters;
  counters.workers = std::make_shared<const std::vector<WorkerFacts>>(std::vector<WorkerFacts>{
      {.role = Role::verifier, .incarnation = 0x1f, .pid = 71, .what = "cpu", .assigned = 3, .busy = 0.5F},
      {.role = Role::drafter,
       .what = "ngram",
       .metrics_endpoint = "http://127.0.0.1:2/metrics",
       .sequences = 4,
       .greedy_gain = 0.25,
       .silent = true}});
  const auto list = nlohmann::json::parse(workers_json(counters, "h"))["workers"];
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["role"], "verifier");
  EXPECT_EQ(list[0]["incarnation"], "000000000000001f");
  EXPECT_EQ(list[0]["state"], "ready");
  EXPECT_EQ(list[0]["sequences"], 3);
  EXPECT_EQ(list[0]["busy"], 0.5);
  EXPECT_TRUE(list[0]["greedy_gain"].is_null());
  EXPECT_EQ(list[1]["state"], "silent");
  EXPECT_EQ(list[1]["sequences"], 4);
  EXPECT_EQ(list[1]["metrics"], "http://127.0.0.1:2/metrics");
  EXPECT_EQ(list[1]["greedy_gain"], 0.25);
}

TEST(StatePage, NamesThoseThatAreRefusedAndWhy) {
  RouterCounters counters;
  counters.workers_refused = 12;
  EXPECT_THAT(state_page("", "demo", "", counters), HasSubstr("refused 12 times so far, nobody who is connected now"));
  counters.refused_now = std::make_shared<const std::vector<RefusedFacts>>(
      std::vector<RefusedFacts>{{.role = Role::drafter, .incarnation = 0x77, .pid = 9, .reason = "other tokens"}});
  counters.refused_unnamed = 3;
  EXPECT_THAT(state_page("", "demo", "", counters), HasSubstr("  refused 12 times so far; now:\n"
                                                              "  drafter  0000000000000077  pid 9  refused: other tokens\n"
                                                              "  and 3 more\n"));
}

class TuningPage : public testing::Test {
 protected:
  TuningPage() {
    tuning.tunes = true;
    TunerSetting setting{.kind = {"small-lm", "tiny"},
                         .version = 3,
                         .threshold = 0.62F,
                         .depth_max = 5,
                         .reason = TuneReason::price,
                         .verify_price = 0.125,
                         .draft_price = 0.25,
                         .theorem_threshold = 0.75};
    setting.by_depth[0] = {.verified = 10, .expected = 8, .accepted = 7};
    setting.by_survival[9] = {.verified = 4, .expected = 3.8, .accepted = 1};
    tuning.settings.push_back(setting);
  }
  TuningFacts tuning;
};

TEST_F(TuningPage, SaysWhereDraftersStopAndWhy) {
  RouterCounters counters;
  EXPECT_EQ(state_page("", "demo", "", counters).find("tuning:"), std::string::npos) << "nothing is tuned";
  counters.tuning = std::make_shared<const TuningFacts>(tuning);
  const std::string page = state_page("", "demo", "", counters);
  EXPECT_THAT(page, HasSubstr("tuning: where drafters stop (h)\n"
                              "  small-lm (tiny)      h 0.62, at most 5 deep, version 3: less likely nodes do not pay\n"));
  EXPECT_THAT(page, HasSubstr("a node costs 0.125 tokens to verify and 0.250 to draft; the theorem's h 0.75\n"));
  EXPECT_THAT(page, HasSubstr("predicted/seen by depth  1 0.80/0.70\n"));
}

TEST_F(TuningPage, SaysTheSameAsJson) {
  const auto json = nlohmann::json::parse(tuning_json(tuning));
  EXPECT_EQ(json["tuner"], "on");
  EXPECT_EQ(json["first_threshold"], 1);
  const auto& kind = json["kinds"].at(0);
  EXPECT_EQ(kind["model"], "tiny");
  EXPECT_EQ(kind["reason"], "price");
  EXPECT_EQ(kind["draft_price_tokens"], 0.25);
  EXPECT_EQ(kind["depths"]["1"]["predicted"], 0.8);
  EXPECT_EQ(kind["depths"]["1"]["accepted"], 0.7);
  EXPECT_EQ(kind["survivals"]["1.0"]["accepted"], 0.25);
  EXPECT_EQ(kind["survivals"]["0.1"]["verified"], 0);
}

TEST(StatePage, ShowsAVerifierThatRestsAfterAFailedStep) {
  EXPECT_EQ(state_of({.resting = true}), "resting");
  EXPECT_EQ(state_of({.stuck = true, .resting = true}), "stuck");
  EXPECT_EQ(state_of({.resting = true, .leaving = true}), "leaving");
}

TEST(StatePage, NamesTheAddressThatAClientCanReach) {
  EXPECT_EQ(url_for("http://127.0.0.1:8080", "chat.example"), "http://127.0.0.1:8080");
  EXPECT_EQ(url_for("http://0.0.0.0:8080", "10.0.0.5:8080"), "http://10.0.0.5:8080");
  EXPECT_EQ(url_for("https://[::]:8443", "chat.example"), "https://chat.example");
  EXPECT_EQ(url_for("http://[::]:80", "[fe80::1]"), "http://[fe80::1]");
  for (const char* unreadable : {"", "a b", "chat.example/x", "x\"y:80"}) {
    EXPECT_EQ(url_for("http://0.0.0.0:8080", unreadable), "http://0.0.0.0:8080") << unreadable;
  }
}

TEST(WorkersPage, NamesTheAddressThatAClientCanReach) {
  EXPECT_EQ(page_for("http://127.0.0.1:9100/metrics", "chat.example:8080"), "http://127.0.0.1:9100/metrics");
  EXPECT_EQ(page_for("http://0.0.0.0:9100/metrics", "chat.example:8080"), "http://chat.example:9100/metrics");
  EXPECT_EQ(page_for("http://[::]:9100/metrics", "[fe80::1]"), "http://[fe80::1]:9100/metrics");
  EXPECT_EQ(page_for("http://0.0.0.0:9100/metrics", "localhost"), "http://127.0.0.1:9100/metrics");
  for (const char* unreadable : {"", "a b", "chat.example/x", "x\"y:80"}) {
    EXPECT_EQ(page_for("http://0.0.0.0:9100/metrics", unreadable), "http://0.0.0.0:9100/metrics") << unreadable;
  }
  for (const char* none : {"", "x", "http://"}) EXPECT_EQ(page_for(none, "h"), none);
  RouterCounters counters;
  counters.workers = std::make_shared<const std::vector<WorkerFacts>>(
      std::vector<WorkerFacts>{{.what = "cpu", .metrics_endpoint = "http://0.0.0.0:9100/metrics"}});
  EXPECT_THAT(workers_json(counters, "10.0.0.5:8080"), HasSubstr("\"http://10.0.0.5:9100/metrics\""));
  EXPECT_THAT(state_page("", "demo", "http://10.0.0.5:8080", counters), HasSubstr(" http://10.0.0.5:9100/metrics\n"));
}

TEST(StatePage, SaysWhyAWorkerLeaves) {
  RouterCounters counters;
  counters.workers = std::make_shared<const std::vector<WorkerFacts>>(
      std::vector<WorkerFacts>{{.what = "cpu", .leaving = true, .why_leaving = "told to stop"}});
  EXPECT_THAT(state_page("", "demo", "", counters), HasSubstr("leaves: told to stop\n"));
}

}  // namespace
}  // namespace slipstream
