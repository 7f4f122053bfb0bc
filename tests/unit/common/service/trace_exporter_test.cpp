#include "common/service/trace_exporter.h"

#include <atomic>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/http/server.h"
#include "common/metrics/scrape.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

// A collector that answers each post with that status.
class Collector {
 public:
  explicit Collector(int status)
      : server_(http::Server::listen(
                    "127.0.0.1", 0,
                    [this, status](http::Request request, http::Exchange exchange) {
                      {
                        const std::lock_guard lock(mutex_);
                        bodies_.push_back(request.path == kTracesPath ? request.body : "");
                      }
                      exchange.send({.status = status, .body = "{}"});
                    },
                    [](int, std::string_view, std::string_view) { return http::Response{}; })
                    .value()) {}
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }
  std::vector<std::string> bodies() {
    const std::lock_guard lock(mutex_);
    return bodies_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> bodies_;
  http::Server server_;
};

double spans(std::string_view outcome) {
  Exposition page;
  add_trace_metrics(page);
  return Scrape::parse(page.text()).value().sum(metric::kNodeSpans.name, {{"outcome", outcome}});
}

TEST(TraceExporter, SendsWhatIsRecordedAtTheLatestWhenItEnds) {
  Collector collector(200);
  const double before = spans("sent");
  {
    const auto exporter = TraceExporter::start(collector.url(), {.service = "slipstream-router", .instance = "a"});
    ASSERT_TRUE(exporter);
    for (uint64_t id : {7, 8}) record({.span = {.trace = {1, 2, 0}, .id = id, .name = "request"}});
  }
  ASSERT_FALSE(collector.bodies().empty());
  EXPECT_THAT(collector.bodies().front(), HasSubstr("0000000000000007"));
  EXPECT_EQ(spans("sent") - before, 2);
}

TEST(TraceExporter, CountsWhatNoCollectorTakes) {
  Collector collector(503);
  const double refused = spans("failed");
  {
    const auto exporter = TraceExporter::start(collector.url(), {});
    record({.span = {.id = 7}});
  }
  EXPECT_EQ(spans("failed") - refused, 1);
  const double away = spans("failed");
  {
    const auto exporter = TraceExporter::start("http://127.0.0.1:1", {});
    record({.span = {.id = 7}});
  }
  EXPECT_EQ(spans("failed") - away, 1);
}

TEST(TraceExporter, RefusesWhatIsNoAddress) {
  EXPECT_THAT(TraceExporter::start("collector:4318", {}).error().message, HasSubstr("write http://HOST:PORT"));
}

}  // namespace
}  // namespace slipstream
