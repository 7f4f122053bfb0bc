#include "services/router/http_api/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(StatePage, SaysWhyAWorkerLeaves) {
  RouterCounters counters;
  counters.workers = std::make_shared<const std::vector<WorkerFacts>>(
      std::vector<WorkerFacts>{{.what = "cpu", .leaving = true, .why_leaving = "told to stop"}});
  EXPECT_THAT(state_page("", "demo", "", counters), HasSubstr("leaves: told to stop\n"));
}

}  // namespace
}  // namespace slipstream
