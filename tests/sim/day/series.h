// What a Prometheus holds of some metrics: the samples of each series, of the last while. It is fed
// with the pages that the processes export, and promql.h asks it.
//
//   Series series({"slipstream_router_requests_live"}, 1800);
//   series.scraped(now, {{"namespace", "day"}, {"instance", "router-0"}}, page);   // each 15 s
//   series.gone({{"instance", "router-0"}});                                       // its target has ended
//
// Times are seconds. Not thread-safe.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/metrics/scrape.h"

namespace slipstream::sim {

inline constexpr double kLookBack = 300;  // seconds for which a sample is the present one, if its target has not ended

using LabelSet = std::map<std::string, std::string, std::less<>>;  // without the name

class Series {
 public:
  struct One {
    LabelSet labels;
    std::deque<std::pair<double, double>> samples = {};  // (time, value), times rise
    bool stale = false;                                  // its target has ended, or exports it no longer
  };

  // names: the metrics that are kept; keep: seconds that a sample is kept.
  Series(std::set<std::string, std::less<>> names, double keep) : names_(std::move(names)), keep_(keep) {}

  // A page of a target at `now`. What it exported before and does not now is stale.
  void scraped(double now, const LabelSet& target, const Scrape& page);
  void gone(const LabelSet& target);
  void add(double now, const std::string& name, const LabelSet& labels, double value);  // one sample

  const std::map<LabelSet, One>& of(std::string_view name) const;  // empty: none

 private:
  std::set<std::string, std::less<>> names_;
  double keep_;
  std::map<std::string, std::map<LabelSet, One>, std::less<>> series_;
};

}  // namespace slipstream::sim
