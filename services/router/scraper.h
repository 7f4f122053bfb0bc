// Reads the metrics pages of the router's workers, or what a Prometheus has of them, and posts what
// they say to the router's actor (scraped.h). It is a client like any other: it sees what the
// workers export.
//
// It has a thread of its own, which asks one worker after the other every `interval`. A worker that
// does not answer is asked at growing gaps, up to kScrapeGapMost rounds, so that hung ones do not
// hold up the others. A page may have kScrapeBytesMax bytes, and take `timeout` in all. The
// destructor ends the thread, within one `timeout`.
//
//   Scraper scraper({}, [] { return endpoints_of_workers(); }, [](Scraped scraped) { loop.post(scraped); });
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "common/http/client.h"
#include "services/router/scraped.h"

namespace slipstream {

inline constexpr uint32_t kScrapeGapMost = 64;                         // rounds
inline constexpr std::chrono::milliseconds kScrapeInterval{250};       // of workers
inline constexpr std::chrono::milliseconds kPrometheusInterval{1000};  // of a Prometheus
inline constexpr std::chrono::milliseconds kScrapeTimeout{200};
inline constexpr std::chrono::milliseconds kPrometheusTimeout{2000};
inline constexpr size_t kPrometheusBytesMax = size_t{64} << 20;  // of its answer, which has the series of all workers

class Scraper {
 public:
  using Workers = std::function<std::vector<std::string>()>;  // the addresses of their pages, http://host:port/metrics
  using Post = std::function<void(Scraped)>;

  // prometheus: its address, http://host:port; empty: the workers are asked themselves. Both
  // functions are called on the scraper's thread, until the destructor has ended.
  Scraper(std::string prometheus, Workers workers, Post post);
  ~Scraper();
  Scraper(const Scraper&) = delete;
  Scraper& operator=(const Scraper&) = delete;

 private:
  struct Worker {
    std::unique_ptr<http::Client> client;
    std::string path;
    uint32_t failures = 0;  // in a row
    uint32_t rests = 0;     // rounds until it is asked again
  };

  void run(const std::stop_token& stop);
  void ask_workers(const std::stop_token& stop);
  void ask(const std::string& address, Worker& worker);
  void ask_prometheus(Worker& prometheus);

  std::string prometheus_;
  Workers workers_;
  Post post_;
  std::map<std::string, Worker> asked_;
  std::mutex mutex_;
  std::condition_variable_any wakes_;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace slipstream
