#include "common/metrics/exposition.h"

#include <limits>
#include <map>
#include <vector>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

namespace slipstream {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

// Metrics in the order of their first mention, so that two pages can be compared line by line.
struct Exposition::Families {
  std::vector<MetricFamily> list;
  std::map<std::string_view, size_t> places;

  ClientMetric& add(const MetricName& metric, MetricType type, Labels labels) {
    const auto [place, is_new] = places.try_emplace(metric.name, list.size());
    if (is_new)
      list.push_back({.name = std::string(metric.name), .help = std::string(metric.help), .type = type, .metric = {}});
    ClientMetric& added = list[place->second].metric.emplace_back();
    for (const auto& [name, value] : labels) added.label.push_back({std::string(name), std::string(value)});
    return added;
  }
};

Exposition::Exposition() : families_(std::make_unique<Families>()) {}
Exposition::~Exposition() = default;

void Exposition::counter(const MetricName& metric, double value, Labels labels) {
  families_->add(metric, MetricType::Counter, labels).counter.value = value;
}

void Exposition::gauge(const MetricName& metric, double value, Labels labels) {
  families_->add(metric, MetricType::Gauge, labels).gauge.value = value;
}

void Exposition::add_histogram(const MetricName& metric, std::span<const double> bounds, std::span<const uint64_t> counts,
                               double sum, Labels labels) {
  ClientMetric::Histogram& histogram = families_->add(metric, MetricType::Histogram, labels).histogram;
  uint64_t cumulative = 0;  // Prometheus counts in each bucket all values up to its bound
  for (size_t i = 0; i < counts.size(); ++i) {
    cumulative += counts[i];
    histogram.bucket.push_back({.cumulative_count = cumulative,
                                .upper_bound = i < bounds.size() ? bounds[i] : std::numeric_limits<double>::infinity()});
  }
  histogram.sample_count = cumulative;
  histogram.sample_sum = sum;
}

std::string Exposition::text() const { return prometheus::TextSerializer().Serialize(families_->list); }

}  // namespace slipstream
