#include "tools/slipstream/top/increase.h"

#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace slipstream::command::top {
namespace {

struct SeriesOrder {
  bool operator()(const Sample* a, const Sample* b) const {
    return std::tie(a->name, a->labels) < std::tie(b->name, b->labels);
  }
};

double growth(double before, double now) {
  if (!std::isfinite(now)) return 0;
  return std::isfinite(before) && now >= before ? now - before : now;
}

}  // namespace

Scrape increase(const Scrape& before, const Scrape& now) {
  std::map<const Sample*, double, SeriesOrder> earlier;
  for (const Sample& sample : before.samples()) earlier.emplace(&sample, sample.value);
  std::vector<Sample> grown(now.samples().begin(), now.samples().end());
  for (Sample& sample : grown) {
    const auto at = earlier.find(&sample);
    sample.value = growth(at == earlier.end() ? 0 : at->second, sample.value);
  }
  return *Scrape::of(std::move(grown));  // the same series as `now`: none comes twice
}

}  // namespace slipstream::command::top
