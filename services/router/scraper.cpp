#include "services/router/scraper.h"

#include <algorithm>
#include <utility>

#include "common/base/endpoint.h"
#include "common/metrics/scrape.h"
#include "services/router/promql.h"
#include "services/router/read_worker.h"

namespace slipstream {
namespace {

constexpr std::string_view kScheme = "http://";

// The client of http://host:port/path; null: the address is none.
std::unique_ptr<http::Client> client_of(std::string_view address, std::chrono::milliseconds timeout, size_t bytes_max) {
  if (!address.starts_with(kScheme)) return nullptr;
  address.remove_prefix(kScheme.size());
  const auto server = parse_endpoint(address.substr(0, address.find('/')), Use::connect);
  if (!server) return nullptr;
  auto client = std::make_unique<http::Client>(server->host, server->port, timeout);
  client->limit_answers(bytes_max, timeout);
  return client;
}

std::string path_of(std::string_view address) {
  const size_t slash = address.find('/', std::min(address.size(), kScheme.size()));
  return slash == std::string_view::npos ? "/" : std::string(address.substr(slash));
}

Result<WorkerReading> reading_of(std::string_view text) {
  TRY(const Scrape page, Scrape::parse(text));
  return read_worker(page);
}

}  // namespace

Scraper::Scraper(std::string prometheus, Workers workers, Post post)
    : prometheus_(std::move(prometheus)),
      workers_(std::move(workers)),
      post_(std::move(post)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Scraper::~Scraper() {
  thread_.request_stop();
  thread_.join();
}

void Scraper::run(const std::stop_token& stop) {
  Worker prometheus;
  const auto interval = prometheus_.empty() ? kScrapeInterval : kPrometheusInterval;
  while (!stop.stop_requested()) {
    const auto next = std::chrono::steady_clock::now() + interval;
    if (prometheus_.empty()) {
      ask_workers(stop);
    } else {
      ask_prometheus(prometheus);
    }
    std::unique_lock lock(mutex_);
    wakes_.wait_until(lock, stop, next, [] { return false; });
  }
}

void Scraper::ask_workers(const std::stop_token& stop) {
  const std::vector<std::string> there = workers_();
  std::erase_if(asked_, [&](const auto& entry) { return std::ranges::find(there, entry.first) == there.end(); });
  for (const std::string& address : there) {
    if (stop.stop_requested()) return;
    Worker& worker = asked_[address];
    if (worker.rests > 0) {
      --worker.rests;
    } else {
      ask(address, worker);
    }
  }
}

void Scraper::ask(const std::string& address, Worker& worker) {
  if (worker.client == nullptr) {
    worker.client = client_of(address, kScrapeTimeout, kScrapeBytesMax);
    worker.path = path_of(address);
  }
  const auto reply = worker.client == nullptr ? fail("{} is no address", address) : worker.client->get(worker.path);
  if (!reply) {
    worker.rests = std::min(1U << std::min(worker.failures, 6U), kScrapeGapMost) - 1;
    ++worker.failures;
    return post_({.source = address, .what = NoReading{.reached = false}});
  }
  worker.failures = 0;
  auto reading = reply->status == 200 ? reading_of(reply->body) : fail("status {}", reply->status);
  if (!reading) return post_({.source = address, .what = NoReading{.reached = true}});
  post_({.source = address, .what = *std::move(reading)});
}

void Scraper::ask_prometheus(Worker& prometheus) {
  if (prometheus.client == nullptr) prometheus.client = client_of(prometheus_, kPrometheusTimeout, kPrometheusBytesMax);
  const auto reply =
      prometheus.client == nullptr ? fail("{} is no address", prometheus_) : prometheus.client->get(kWorkersQueryPath);
  if (!reply) return post_({.source = prometheus_, .what = NoReading{.reached = false}});
  auto pages = read_query(reply->body);
  if (!pages || pages->empty()) return post_({.source = prometheus_, .what = NoReading{.reached = true}});
  for (auto& [instance, samples] : *pages) {
    auto page = Scrape::of(std::move(samples));
    auto reading = page ? read_worker(*page) : Result<WorkerReading>(std::unexpected(page.error()));
    if (!reading) {
      post_({.source = instance, .what = NoReading{.reached = true}});
    } else {
      post_({.source = instance, .what = *std::move(reading)});
    }
  }
}

}  // namespace slipstream
