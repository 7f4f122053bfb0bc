#include "tests/sim/day/day.h"

#include <algorithm>
#include <iterator>

namespace slipstream::sim {
namespace {

constexpr Time kScrapeEvery = std::chrono::seconds(15);    // as the chart's PodMonitor
constexpr Time kFirstRequest = std::chrono::seconds(120);  // the fleet has started by then
constexpr double kKept = 3600;                             // seconds of samples

double seconds(Time time) { return static_cast<double>(time.count()) * 1e-6; }

// One ScaledObject: asks its triggers as KEDA does, and scales the fleet.
class Scaler {
 public:
  Scaler(Fleet& fleet, Kind kind, Scaling scaling, int pods)
      : fleet_(fleet), kind_(kind), scaling_(std::move(scaling)), keda_(scaling_.object, pods) {}
  // Returns whether another number is wanted than before.
  bool look(const Series& series) {
    const double now = seconds(fleet_.time().now());
    if (!keda_.due(now)) return false;
    std::vector<double> values;
    for (const Query& trigger : scaling_.triggers) values.push_back(trigger.value(series, now));
    const int before = keda_.replicas();
    fleet_.scale(kind_, keda_.look(now, values));
    return keda_.replicas() != before;
  }
  void add_metrics(std::set<std::string, std::less<>>& to) const {
    for (const Query& trigger : scaling_.triggers) to.merge(trigger.metrics());
  }

 private:
  Fleet& fleet_;
  Kind kind_;
  Scaling scaling_;
  Keda keda_;
};

class Day {
 public:
  Day(const DayLoad& load, const DayPolicy& policy, uint64_t seed)
      : load_(load), fleet_(day_fleet()), requests_(draw_day(load, seed)) {
    report_.policy = policy.name;
    fleet_.scale(Kind::verifier, policy.verifiers);
    fleet_.scale(Kind::drafter, policy.drafters);
    std::set<std::string, std::less<>> metrics;
    const auto add = [&](Kind kind, const std::optional<Scaling>& scaling, int pods) {
      if (!scaling) return;
      scalers_.emplace_back(kind, Scaler(fleet_, kind, *scaling, pods));
      scalers_.back().second.add_metrics(metrics);
    };
    add(Kind::verifier, policy.scale_verifiers, policy.verifiers);
    add(Kind::drafter, policy.scale_drafters, policy.drafters);
    series_.emplace(std::move(metrics), kKept);
  }

  DayReport live() {
    VirtualTime& time = fleet_.time();
    for (size_t i = 0; i < std::size(requests_); ++i) {
      time.at(kFirstRequest + requests_[i].when, [this, i] { fleet_.ask(requests_[i]); });
    }
    if (!scalers_.empty()) time.in(kScrapeEvery, [this] { scrape(); });
    time.at(kFirstRequest + kMomentEvery, [this] { note(); });
    const Time ends = kFirstRequest + Time(static_cast<int64_t>(load_.hours * 3.6e9));
    time.run_until(ends);
    for (const Kind kind : {Kind::router, Kind::verifier, Kind::drafter}) {
      report_.pod_hours[static_cast<size_t>(kind)] = fleet_.pod_hours(kind);
    }
    ended_ = true;
    time.run_until(ends + std::chrono::minutes(3));  // what is still asked is answered
    uint64_t tokens = 0, drafted = 0;
    fleet_.each([&](const RouterLife& router) {
      tokens += router.actor().counters().output_tokens;
      drafted += router.actor().counters().drafted_tokens;
    });
    report_.drafted = static_cast<double>(drafted) / static_cast<double>(std::max<uint64_t>(tokens, 1));
    report_.answers = fleet_.answers();
    report_.happenings = time.happened();
    return std::move(report_);
  }

 private:
  void scrape() {
    fleet_.scrape(*series_);
    for (auto& [kind, scaler] : scalers_) report_.changes[static_cast<size_t>(kind)] += scaler.look(*series_) ? 1 : 0;
    if (!ended_) fleet_.time().in(kScrapeEvery, [this] { scrape(); });
  }

  void note() {
    uint64_t live = 0, drafted = 0, submitted = 0;
    fleet_.each([&](const RouterLife& router) {
      const RouterCounters& counters = router.actor().counters();
      live += counters.live + counters.waiting;
      drafted += counters.drafted_tokens;
      submitted += counters.submitted;
    });
    const double since = seconds(kMomentEvery);
    report_.moments.push_back({.hour = seconds(fleet_.time().now() - kFirstRequest) / 3600 * 24 / load_.hours,
                               .requests_per_second = static_cast<double>(submitted - submitted_) / since,
                               .accepted_per_second = static_cast<double>(drafted - drafted_) / since,
                               .live = static_cast<int>(live),
                               .verifiers = fleet_.running(Kind::verifier),
                               .drafters = fleet_.running(Kind::drafter)});
    submitted_ = submitted;
    drafted_ = drafted;
    if (!ended_) fleet_.time().in(kMomentEvery, [this] { note(); });
  }

  DayLoad load_;
  Fleet fleet_;
  std::vector<DayRequest> requests_;
  std::vector<std::pair<Kind, Scaler>> scalers_;
  std::optional<Series> series_;
  DayReport report_;
  uint64_t submitted_ = 0, drafted_ = 0;
  bool ended_ = false;
};

}  // namespace

FleetConfig day_fleet() {
  return {.routers = 2,
          .starts = {Time(0), kPodStarts[1], kPodStarts[2]},
          .speed = {.least = Time(75'000), .most = Time(85'000), .row = Time(2000)},
          .drafter = {.noise = 0.1, .odd_noise = 1, .level = Time(300)},
          .tuning = {.threshold = 0.5F, .deadline_us = 10'000}};
}

DayReport live_day(const DayLoad& load, const DayPolicy& policy, uint64_t seed) { return Day(load, policy, seed).live(); }

}  // namespace slipstream::sim
