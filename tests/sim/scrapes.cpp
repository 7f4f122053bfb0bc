// The routers of a world read the pages of their workers, as their scraper does (scraper.h).
#include "common/metrics/exposition.h"
#include "services/drafter/metrics_page.h"
#include "services/router/read_worker.h"
#include "services/verifier/metrics_page.h"
#include "tests/sim/world.h"

namespace slipstream::sim {
namespace {

// What the router's scraper makes of a page (services/router/scraper.h).
template <class Counters, class Add>
Scraped scraped(const std::string& worker, const Counters& counters, const Add& add) {
  Exposition page;
  add(counters, page);
  const auto samples = Scrape::parse(page.text());
  CHECK(samples.has_value(), "the page of {} is none: {}", worker, samples.error().message);
  auto reading = read_worker(*samples);
  CHECK(reading.has_value(), "the page of {} cannot be read: {}", worker, reading.error().message);
  return {.source = worker, .what = *std::move(reading)};
}

}  // namespace

void World::scrape() {
  if (const RouterLife* first = routers_[0].now()) {
    for (const TunerSetting& setting : first->actor().counters().tuning->settings) settings_.emplace_back(time_.now(), setting);
  }
  std::vector<Scraped> pages;  // by machine: the successor of a process begins to count anew
  const auto add = [&](Kind kind, const auto& homes, const auto& add_metrics) {
    for (size_t i = 0; i < homes.size(); ++i) {
      const auto* life = homes[i].now();
      if (life == nullptr || life->frozen()) continue;
      pages.push_back(scraped(name({kind, static_cast<int>(i)}), life->actor().counters(), add_metrics));
    }
  };
  add(Kind::verifier, verifiers_, add_verifier_metrics);
  add(Kind::drafter, drafters_, add_drafter_metrics);
  for (const auto& home : routers_) {
    for (const Scraped& page : pages) {
      if (RouterLife* life = home.now()) life->post(page);
    }
  }
  time_.in(kScrapeEvery, [this] { scrape(); });
}

}  // namespace slipstream::sim
