#include "common/ops_page/worker_page.h"

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/http/client.h"
#include "common/http/stuck_status.h"
#include "common/ops_page/health.h"
#include "common/ops_page/server_metrics.h"
#include "tests/unit/common/metrics/promtool.h"

namespace slipstream {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class WorkerPageTest : public testing::Test {
 protected:
  http::Reply get(std::string_view path) {
    const auto reply = client_.get(path);
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? *reply : http::Reply{};
  }

  std::atomic<WorkerState> state_ = WorkerState::waiting;
  std::atomic<std::chrono::milliseconds> job_{0ms};  // that its job has run
  http::Server server_ = *serve_worker_page("127.0.0.1", 0,
                                            {.name = "slipstream-tester",
                                             .metrics = [] { return std::string("page"); },
                                             .state = [this] { return state_.load(); },
                                             .stuck = [this] { return why_stuck({.job = job_.load()}, 1s); },
                                             .work = [] { return std::string("ngram\n"); }});
  http::Client client_{"127.0.0.1", server_.port(), std::chrono::seconds(20)};
};

TEST_F(WorkerPageTest, HasTheMetrics) {
  EXPECT_EQ(get("/metrics").status, 200);
  EXPECT_EQ(get("/metrics").body, "page");
}

TEST_F(WorkerPageTest, IsHealthyBeforeItIsReady) {
  EXPECT_EQ(get("/health").status, 200);
  EXPECT_EQ(get("/ready").status, 503);
  state_ = WorkerState::ready;
  EXPECT_EQ(get("/ready").status, 200);
}

TEST_F(WorkerPageTest, IsNotReadyAnyMoreOnceItIsToldToStop) {
  state_ = worker_state(true, true);
  EXPECT_EQ(get("/ready").status, 503);
  EXPECT_THAT(get("/ready").body, HasSubstr("told to stop"));
  EXPECT_EQ(get("/health").status, 200);
}

TEST_F(WorkerPageTest, IsNotHealthyWhileItsJobDoesNotEnd) {
  job_ = 999ms;
  EXPECT_EQ(get("/health").status, 200);
  job_ = 1500ms;
  EXPECT_EQ(get("/health").status, http::kStuckStatus);
  EXPECT_THAT(get("/health").body, HasSubstr("compute job has run for 1.5 s (--job-stuck-ms 1000)"));
  job_ = 0ms;
  EXPECT_EQ(get("/health").status, 200);
}

TEST_F(WorkerPageTest, SaysWhoItIsAndWhatElseThereIs) {
  EXPECT_THAT(get("/").body,
              AllOf(HasSubstr("slipstream-tester: waiting for a router\nngram\n"), HasSubstr("/metrics"), HasSubstr("/ready")));
  state_ = WorkerState::ready;
  EXPECT_THAT(get("/").body, HasSubstr("slipstream-tester: ready"));
  EXPECT_EQ(get("/nowhere").status, 404);
}

TEST_F(WorkerPageTest, IsOnlyRead) { EXPECT_EQ(client_.post("/metrics", "{}")->status, 405); }

TEST_F(WorkerPageTest, CountsItsOwnConnections) {
  get("/");
  Exposition page;
  add_server_metrics(server_.counters(), page);
  EXPECT_THAT(page.text(),
              AllOf(HasSubstr("slipstream_http_connections 1\n"), HasSubstr("slipstream_http_requests_total 1\n")));
  EXPECT_THAT(promtool_complaints(page.text()), IsEmpty());
}

}  // namespace
}  // namespace slipstream
