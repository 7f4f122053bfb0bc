#include "tests/sim/day/series.h"

#include <algorithm>

namespace slipstream::sim {
namespace {

bool has(const LabelSet& labels, const LabelSet& some) {
  return std::ranges::all_of(some, [&](const auto& label) {
    const auto at = labels.find(label.first);
    return at != labels.end() && at->second == label.second;
  });
}

}  // namespace

void Series::scraped(double now, const LabelSet& target, const Scrape& page) {
  gone(target);
  for (const Sample& sample : page.samples()) {
    if (!names_.contains(sample.name)) continue;
    LabelSet labels = target;
    labels.insert(sample.labels.begin(), sample.labels.end());
    add(now, sample.name, labels, sample.value);
  }
  for (auto& [name, all] : series_) {
    for (auto& [labels, one] : all) {
      while (!one.samples.empty() && one.samples.front().first < now - keep_) one.samples.pop_front();
    }
    std::erase_if(all, [](const auto& entry) { return entry.second.samples.empty(); });
  }
}

void Series::gone(const LabelSet& target) {
  for (auto& [name, all] : series_) {
    for (auto& [labels, one] : all) one.stale = one.stale || has(labels, target);
  }
}

void Series::add(double now, const std::string& name, const LabelSet& labels, double value) {
  auto& all = series_[name];
  One& one = all.try_emplace(labels, One{.labels = labels}).first->second;
  one.stale = false;
  one.samples.emplace_back(now, value);
}

const std::map<LabelSet, Series::One>& Series::of(std::string_view name) const {
  static const std::map<LabelSet, One> none;
  const auto at = series_.find(name);
  return at == series_.end() ? none : at->second;
}

}  // namespace slipstream::sim
