// The scraper asks real HTTP servers for real pages.
#include "services/router/scraper.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>

#include <gtest/gtest.h>

#include "common/http/server.h"
#include "tests/unit/services/router/worker_pages.h"

namespace slipstream {
namespace {

using namespace std::chrono_literals;

// Serves one text at every path.
class TextServer {
 public:
  explicit TextServer(std::string text) {
    server_.emplace(*http::Server::listen(
        "127.0.0.1", 0,
        [text = std::move(text)](const http::Request&, http::Exchange exchange) { exchange.send({.body = text}); },
        [](int status, std::string_view, std::string_view) { return http::Response{.status = status, .body = {}}; }));
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }

 private:
  std::optional<http::Server> server_;
};

// What the scraper posts, in order.
class Posts {
 public:
  void operator()(Scraped scraped) {
    std::lock_guard lock(mutex_);
    posted_.push_back(std::move(scraped));
    more_.notify_all();
  }
  Scraped next() {
    std::unique_lock lock(mutex_);
    if (!more_.wait_for(lock, 20s, [&] { return !posted_.empty(); })) ADD_FAILURE() << "nothing was posted";
    Scraped first = posted_.empty() ? Scraped{} : std::move(posted_.front());
    if (!posted_.empty()) posted_.erase(posted_.begin());
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable more_;
  std::vector<Scraped> posted_;
};

TEST(Scraper, ReadsEachWorker) {
  DrafterCounters counters{.method = "ngram"};
  work(counters, 3);
  const TextServer drafter(page_of(counters)), verifier(page_of(busy_verifier({"ngram", ""}))), other("<html>");
  const std::vector<std::string> pages{drafter.url() + "/metrics", verifier.url() + "/metrics", other.url() + "/metrics",
                                       "tcp://nobody"};
  Posts posts;
  const Scraper scraper("", [&] { return pages; }, [&](Scraped scraped) { posts(std::move(scraped)); });
  const Scraped first = posts.next(), second = posts.next(), third = posts.next(), fourth = posts.next();
  EXPECT_EQ(first.source, pages[0]);
  ASSERT_TRUE(std::holds_alternative<WorkerReading>(first.what));
  EXPECT_EQ(std::get<DrafterReading>(std::get<WorkerReading>(first.what)).jobs, 3);
  EXPECT_TRUE(std::holds_alternative<WorkerReading>(second.what));
  ASSERT_TRUE(std::holds_alternative<NoReading>(third.what));
  EXPECT_TRUE(std::get<NoReading>(third.what).reached);
  ASSERT_TRUE(std::holds_alternative<NoReading>(fourth.what));
  EXPECT_FALSE(std::get<NoReading>(fourth.what).reached);
  EXPECT_EQ(posts.next().source, pages[0]) << "and again";
}

TEST(Scraper, AsksAPrometheusInstead) {
  const TextServer prometheus(R"({"status":"success","data":{"resultType":"vector","result":[)"
                              R"({"metric":{"__name__":"slipstream_drafter_asks_total","instance":"d:1"},"value":[1,"2"]}]}})");
  Posts posts;
  const Scraper scraper(
      prometheus.url(), [] { return std::vector<std::string>{}; }, [&](Scraped scraped) { posts(std::move(scraped)); });
  const Scraped scraped = posts.next();
  EXPECT_EQ(scraped.source, "d:1");
  EXPECT_TRUE(std::holds_alternative<NoReading>(scraped.what)) << "the rest of its page is not there";
}

// An answer without end, and a server that says nothing, hold up nobody for long.
TEST(Scraper, IsNotHeldUp) {
  std::atomic<int> asked = 0;
  std::vector<http::Exchange> unanswered;
  auto silent = http::Server::listen(
      "127.0.0.1", 0,
      [&](const http::Request&, http::Exchange exchange) {
        ++asked;
        unanswered.push_back(std::move(exchange));
      },
      [](int status, std::string_view, std::string_view) { return http::Response{.status = status, .body = {}}; });
  ASSERT_TRUE(silent);
  const TextServer drafter(page_of(DrafterCounters{.method = "ngram"}));
  const std::vector<std::string> pages{"http://127.0.0.1:" + std::to_string(silent->port()) + "/metrics",
                                       drafter.url() + "/metrics"};
  Posts posts;
  const Scraper scraper("", [&] { return pages; }, [&](Scraped scraped) { posts(std::move(scraped)); });
  int read = 0, failed = 0;
  while (read < 4) ++(std::holds_alternative<WorkerReading>(posts.next().what) ? read : failed);
  EXPECT_LT(failed, 4) << "it is asked at growing gaps";
  EXPECT_GE(failed, 1);
}

}  // namespace
}  // namespace slipstream
