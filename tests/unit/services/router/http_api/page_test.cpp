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
       .what = "cpu",
       .metrics_endpoint = "http://127.0.0.1:1/metrics",
       .assigned = 3},
      {.role = Role::drafter,
       .incarnation = 0x0066,
       .what = "ngram",
       .draft_endpoint = "tcp://127.0.0.1:7301",
       .metrics_endpoint = "http://127.0.0.1:2/metrics",
       .silent = true},
  });
  const std::string page = state_page("demo", "127.0.0.1:8080", counters);
  EXPECT_THAT(page, HasSubstr("verifier 47f6b1a3d36fcdac  ready      3 sequences  cpu  http://127.0.0.1:1/metrics\n"));
  EXPECT_THAT(page, HasSubstr("drafter  0000000000000066  silent     0 sequences  ngram at tcp://127.0.0.1:7301  "
                              "http://127.0.0.1:2/metrics\n"));
}

}  // namespace
}  // namespace slipstream
